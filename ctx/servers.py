"""Which servers run on this machine, and what their health ports say."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctx_core.environment.connection import Connection, ServiceName
from ctx_core.serving.http_request import send
from ctx_core.serving.owner import LOCAL_HEADER, read_owner_token

if TYPE_CHECKING:
    from ctx_core.settings import Settings

TIMEOUT_SECONDS = 5.0  # above the servers' own limit for one check
SERVICES: tuple[ServiceName, ...] = ("memory", "indexer")


@dataclass(frozen=True)
class ServerStatus:
    """What one health port said: ready, not ready with reasons, or nothing."""

    service: ServiceName
    url: str
    running: bool
    ready: bool
    checks: dict[str, str] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)
    error: str = ""
    watch: list[dict[str, Any]] | None = None  # of an indexer that follows files


async def server_status(
    connection: Connection, service: ServiceName, path: str = "/readyz"
) -> ServerStatus:
    """Ask the health port of a server."""
    url = connection.health_url(service, path)
    try:
        headers = credentials(connection)
        async with asyncio.timeout(TIMEOUT_SECONDS), send("GET", url, headers) as response:
            body, code = json.loads(await response.read()), response.status
    except (OSError, TimeoutError, ValueError) as error:
        return ServerStatus(service, url, running=False, ready=False, error=str(error))
    if not _is_from(body, service):
        stranger = f"something else answers at {url}"
        return ServerStatus(service, url, running=False, ready=False, error=stranger)
    return ServerStatus(
        service,
        url,
        running=True,
        ready=code == 200,
        checks=body.get("checks", {}),
        advice=body.get("advice", []),
        watch=body.get("watch"),
    )


def credentials(connection: Connection) -> dict[str, str]:
    """Return the headers by which the servers of this machine know their own user. Blocks."""
    headers = {"Authorization": f"Bearer {connection.token}"} if connection.token else {}
    owner = read_owner_token(connection.data_dir)
    return headers if owner is None else {**headers, LOCAL_HEADER: owner}


async def is_running(connection: Connection, service: ServiceName) -> bool:
    """Whether a server answers, ready or not."""
    return (await server_status(connection, service, "/livez")).running


async def server_statuses(connection: Connection) -> list[ServerStatus]:
    """Ask both servers."""
    return list(await asyncio.gather(*(server_status(connection, each) for each in SERVICES)))


def connection_of(settings: "Settings") -> Connection:
    """Return where the servers answer that these settings describe."""
    ports = {
        "memory": settings.memory_http_port,
        "indexer": settings.indexer_http_port,
        "both": settings.http_port,
    }
    return Connection(
        settings.data_dir, settings.host, ports, settings.own_token, settings.workspace
    )


def _is_from(body: Any, service: ServiceName) -> bool:
    return isinstance(body, dict) and body.get("service") == service
