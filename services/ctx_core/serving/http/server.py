"""Serve one or more services over all transports in one process."""

import contextlib
import errno
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

import uvicorn
from fastmcp import FastMCP
from starlette.applications import Starlette
from starlette.types import ASGIApp

from ctx_core.environment.ports import HEALTH_OFFSET
from ctx_core.errors import SettingsInvalid
from ctx_core.serving.combined import combined
from ctx_core.serving.garbage import resume_collection
from ctx_core.serving.http.apps import (
    HTTP_PATH,
    SSE_PATH,
    PortRouter,
    SingleResponse,
    ToolsetPath,
)
from ctx_core.serving.http.body_limit import raise_library_limit
from ctx_core.serving.http.connection import LimitedConnection
from ctx_core.serving.http.guard import Admission, admission, guard
from ctx_core.serving.http.health import health_app
from ctx_core.serving.http.open_sessions import OpenSessions
from ctx_core.serving.http.rest import rest_app
from ctx_core.serving.mcp.catalog import ToolCatalog
from ctx_core.serving.mcp.server import build
from ctx_core.serving.mcp.stdio import STOP_SIGNALS, serve_stdio, stdio_in_background
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.service import Service
from ctx_core.serving.stopping import CLOSE_SECONDS, end_within
from ctx_core.serving.toolsets import check_setting
from ctx_core.settings import Settings
from ctx_core.settings.serving import url_host

KEEP_ALIVE_SECONDS = 75  # longer than clients pool connections, so that none is closed under a call
BACKLOG = 512
HTTP, SSE, STDIO = "http", "sse", "stdio"
TRANSPORTS = (HTTP, SSE, STDIO)
NETWORK = frozenset({HTTP, SSE})


@dataclass(frozen=True)
class Endpoint:
    """A port, the MCP application on it, and the one on its health port."""

    port: int
    app: Starlette
    health: Starlette
    has_sessions: bool  # that outlive a connection


class _Server(uvicorn.Server):
    """uvicorn that calls `on_ready`, and does not raise a stop signal again when it has stopped:
    the process then closes its stores in order, or is ended by force after the grace."""

    def __init__(
        self, config: uvicorn.Config, on_ready: Callable[[], None], grace_seconds: float
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._grace_seconds = grace_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        resume_collection()
        self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        end_within(self._grace_seconds + CLOSE_SECONDS)
        super().handle_exit(sig, frame)

    def stop(self) -> None:
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {s: signal.signal(s, self.handle_exit) for s in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def serve(
    services: Sequence[Service],
    settings: Settings,
    transports: frozenset[str] = NETWORK,
    on_ready: Callable[[], None] = lambda: None,
    *,
    together: bool = False,
) -> None:
    """Serve until a signal, or until standard input closes where stdio is served.

    `together` serves all of them at one more address, CTX_HTTP_PORT.
    Raises SettingsInvalid for an unknown toolset or a port that cannot be opened.
    """
    check_setting(settings.toolsets, services)
    admitted, catalog = admission(settings), ToolCatalog(settings)
    built = {service.name: _build(service, settings, catalog) for service in services}
    rest = {
        service.rest.port: rest_app(service.rest, settings, built[service.name][1], admitted)
        for service in services
        if service.rest is not None and NETWORK & transports
    }
    stdio = built[services[0].name][0] if STDIO in transports else None
    endpoints = [
        endpoint
        for service in services
        for endpoint in _endpoints(service, *built[service.name], transports, settings)
    ]
    if together and HTTP in transports:
        both = combined(services, settings.http_port)
        endpoints += _endpoints(both, *_build(both, settings, catalog), frozenset({HTTP}), settings)
    if stdio and not endpoints:
        await serve_stdio(stdio, settings.shutdown_grace_seconds)
        return
    async with contextlib.AsyncExitStack() as stack:
        sockets = stack.enter_context(_open_ports(endpoints, rest, settings.host))
        # One after the other: entered at once, the lifespans would share context variables.
        for endpoint in endpoints:
            await stack.enter_async_context(endpoint.app.router.lifespan_context(endpoint.app))
            raise_library_limit(endpoint.app, settings.body_limit)
        config = _uvicorn_config(endpoints, rest, services, settings, admitted)
        server = _Server(config, on_ready, settings.shutdown_grace_seconds)
        if stdio:
            await stack.enter_async_context(stdio_in_background(stdio, server.stop))
        await server.serve(sockets=sockets)


def _build(service: Service, settings: Settings, catalog: ToolCatalog) -> tuple[FastMCP, Metrics]:
    metrics = Metrics(service.name, service.gauges, service.operation_times)
    return build(service, settings, metrics, catalog), metrics


def _endpoints(
    service: Service,
    mcp: FastMCP,
    metrics: Metrics,
    transports: frozenset[str],
    settings: Settings,
) -> list[Endpoint]:
    health = health_app(service, mcp, metrics)
    endpoints = []
    if HTTP in transports:
        app = mcp.http_app(path=HTTP_PATH, session_idle_timeout=settings.session_idle_seconds)
        endpoints.append(Endpoint(service.http_port, app, health, has_sessions=True))
    if SSE in transports:
        app = mcp.http_app(path=SSE_PATH, transport="sse")
        endpoints.append(Endpoint(service.sse_port, app, health, has_sessions=False))
    return endpoints


def _uvicorn_config(
    endpoints: Sequence[Endpoint],
    rest: Mapping[int, ASGIApp],
    services: Sequence[Service],
    settings: Settings,
    admitted: Admission,
) -> uvicorn.Config:
    toolsets = frozenset().union(*(service.toolsets for service in services))
    apps: dict[int, ASGIApp] = dict(rest)
    for endpoint in endpoints:
        app = OpenSessions(endpoint.app) if endpoint.has_sessions else endpoint.app
        apps[endpoint.port] = guard(SingleResponse(ToolsetPath(app, toolsets)), settings, admitted)
        apps[endpoint.port + HEALTH_OFFSET] = guard(
            endpoint.health, settings, admitted, open_to_probes=True
        )
    return uvicorn.Config(
        PortRouter(apps),
        lifespan="off",
        http=LimitedConnection,
        ws="none",
        proxy_headers=False,  # anyone may write them, and rate limits go by the address
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.shutdown_grace_seconds,
    )


@contextlib.contextmanager
def _open_ports(
    endpoints: Sequence[Endpoint], rest: Iterable[int], host: str
) -> Iterator[list[socket.socket]]:
    """Open every port of the endpoints and of REST APIs, and close them at the end.

    Raises SettingsInvalid, which names the port that is taken.
    """
    served = [endpoint.port for endpoint in endpoints]
    ports = [*served, *(port + HEALTH_OFFSET for port in served), *rest]
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(contextlib.closing(_open_port(host, port))) for port in ports]


def _open_port(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET,
            backlog=BACKLOG,
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingsInvalid(
                f"Port {port} on {host} is in use: another ctx (see: ctx status) or another "
                "program. Stop it, or set the CTX_*_PORT settings, or PORT for the REST API "
                "(docs/configuration.md)."
            ) from error
        raise SettingsInvalid(f"CTX_HOST={host}: cannot listen on port {port}: {error}") from error


def both_url(settings: Settings) -> str:
    """Return the address of all servers together."""
    return f"http://{url_host(settings.host)}:{settings.http_port}{HTTP_PATH}"


def urls(service: Service, host: str) -> dict[str, str]:
    """Return the URLs of a service, to print."""
    at = url_host(host)
    rest = {} if service.rest is None else {"rest": f"http://{at}:{service.rest.port}/"}
    return {
        "http": f"http://{at}:{service.http_port}{HTTP_PATH}",
        "sse": f"http://{at}:{service.sse_port}{SSE_PATH}",
        "health": f"http://{at}:{service.http_port + HEALTH_OFFSET}/readyz",
        **rest,
    }
