"""Which servers run on this machine, and what their health ports say."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from services.core.settings import Settings
from services.core.settings.fields import HEALTH_PORT_OFFSET
from services.core.settings.serving import url_host

TIMEOUT_SECONDS = 5.0  # above the servers' own limit for one check
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}

ServiceName = Literal["memory", "indexer"]


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


def server_status(settings: Settings, service: ServiceName) -> ServerStatus:
    """Ask the health port of the server that the settings describe. Blocks for seconds at most."""
    url = _url(settings, _http_port(settings, service) + HEALTH_PORT_OFFSET, "/readyz")
    try:
        body, code = _get(url)
    except (URLError, OSError, ValueError) as error:
        return ServerStatus(service, url, running=False, ready=False, error=str(error))
    if body.get("service") != service:
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


def server_statuses(settings: Settings) -> list[ServerStatus]:
    """Ask both servers."""
    return [server_status(settings, "memory"), server_status(settings, "indexer")]


def mcp_url(settings: Settings, service: ServiceName) -> str:
    """Return the address at which MCP clients reach a server."""
    return _url(settings, _http_port(settings, service), "/mcp")


def _http_port(settings: Settings, service: ServiceName) -> int:
    return settings.memory_http_port if service == "memory" else settings.indexer_http_port


def _url(settings: Settings, port: int, path: str) -> str:
    host = WILDCARDS.get(settings.host, settings.host)
    return f"http://{url_host(host)}:{port}{path}"


def _get(url: str) -> tuple[dict[str, Any], int]:
    try:
        with urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            return _body(response.read()), response.status
    except HTTPError as refusal:
        with refusal:
            return _body(refusal.read()), refusal.code


def _body(raw: bytes) -> dict[str, Any]:
    decoded = json.loads(raw)
    return decoded if isinstance(decoded, dict) else {}
