"""All transports of one or more services in one process."""

import contextlib
import errno
import gc
import logging
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import uvicorn
from fastmcp import FastMCP
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.core.errors import SettingsInvalid
from services.core.serving.http.guard import guard
from services.core.serving.http.health import health_app
from services.core.serving.mcp.server import build
from services.core.serving.mcp.stdio import STOP_SIGNALS, serve_stdio, stdio_beside
from services.core.serving.metrics import Metrics
from services.core.serving.service import Service
from services.core.serving.toolsets import ALL, SCOPE_KEY, URL_INFIX, check_setting
from services.core.settings import Settings
from services.core.settings.fields import HEALTH_PORT_OFFSET
from services.core.settings.serving import url_host

log = logging.getLogger(__name__)

HTTP_PATH, SSE_PATH = "/mcp", "/sse"
KEEP_ALIVE_SECONDS = 75  # longer than clients pool connections, so that none is closed under a call
BACKLOG = 512
# New objects between two looks for cycles, and looks of each kind between two of the next: requests
# leave hardly any cycles behind.
GC_THRESHOLDS = (20_000, 20, 50)
OPTIONAL_SPACE = b" \t"  # RFC 9110 calls it OWS
HTTP, SSE, STDIO = "http", "sse", "stdio"
TRANSPORTS = (HTTP, SSE, STDIO)
NETWORK = frozenset({HTTP, SSE})


@dataclass(frozen=True)
class Endpoint:
    """One port, and what answers there."""

    port: int
    app: Starlette
    health: Starlette


class ToolsetPath:
    """Serves /mcp/x/NAME as /mcp with the toolset NAME chosen."""

    def __init__(self, app: ASGIApp, toolsets: frozenset[str]) -> None:
        self._app = app
        self._toolsets = toolsets | {ALL}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        prefix = HTTP_PATH + URL_INFIX
        if not path.startswith(prefix):
            await self._app(scope, receive, send)
            return
        name = path.removeprefix(prefix).rstrip("/")
        if name not in self._toolsets:
            known = ", ".join(sorted(self._toolsets))
            answer = JSONResponse(
                {"error": f"no toolset {name!r}; there are: {known}"}, status_code=404
            )
            await answer(scope, receive, send)
            return
        rewritten = {**scope, "path": HTTP_PATH, "raw_path": HTTP_PATH.encode(), SCOPE_KEY: name}
        await self._app(rewritten, receive, send)


class OneResponse:
    """Drops a second start of a response. When the server stops, the SSE endpoint answers again on
    a stream it has begun; of that answer only the end may be sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_once(message: Message) -> None:
            nonlocal started
            is_start = message["type"] == "http.response.start"
            if not (is_start and started):
                await send(message)
            started |= is_start

        await self._app(scope, receive, send_once)


class ByPort:
    """The root application: hands each request to the one that listens on its port."""

    def __init__(self, apps: Mapping[int, ASGIApp]) -> None:
        self._apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # httptools leaves the white space behind a header's value, which is no part of it.
        scope["headers"] = [
            (name, value.rstrip(OPTIONAL_SPACE)) for name, value in scope["headers"]
        ]
        await self._apps[scope["server"][1]](scope, receive, send)


class _Server(uvicorn.Server):
    """uvicorn that says when it is ready, and stops without raising the signal again, so that
    what was opened before it is closed after it."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _settle_garbage()
        self._on_ready()

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


def _settle_garbage() -> None:
    """What was built for the start stays for good: looking through all of it for garbage made now
    and then a request wait for tenths of a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


async def serve(
    services: Sequence[Service],
    settings: Settings,
    transports: frozenset[str] = NETWORK,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal, or until standard input closes where stdio is served."""
    check_setting(settings.toolsets, services)
    built = {service.name: _build(service, settings) for service in services}
    stdio = built[services[0].name][0] if STDIO in transports else None
    endpoints = [
        endpoint
        for service in services
        for endpoint in _endpoints(service, *built[service.name], transports)
    ]
    if stdio and not endpoints:
        await serve_stdio(stdio)
        return
    async with contextlib.AsyncExitStack() as stack:
        sockets = stack.enter_context(_bound(endpoints, settings.host))
        # One after the other: entered at once they would share state they should not.
        for endpoint in endpoints:
            await stack.enter_async_context(endpoint.app.router.lifespan_context(endpoint.app))
        server = _Server(_uvicorn_config(endpoints, services, settings), on_ready)
        if stdio:
            await stack.enter_async_context(stdio_beside(stdio, server.stop))
        await server.serve(sockets=sockets)


def _build(service: Service, settings: Settings) -> tuple[FastMCP, Metrics]:
    metrics = Metrics(service.name, service.gauges)
    return build(service, settings, metrics), metrics


def _endpoints(
    service: Service, mcp: FastMCP, metrics: Metrics, transports: frozenset[str]
) -> list[Endpoint]:
    health = health_app(service, mcp, metrics)
    found = []
    if HTTP in transports:
        found.append(Endpoint(service.http_port, mcp.http_app(path=HTTP_PATH), health))
    if SSE in transports:
        app = mcp.http_app(path=SSE_PATH, transport="sse")
        found.append(Endpoint(service.sse_port, app, health))
    return found


def _uvicorn_config(
    endpoints: Sequence[Endpoint], services: Sequence[Service], settings: Settings
) -> uvicorn.Config:
    toolsets = frozenset().union(*(service.toolsets for service in services))
    apps: dict[int, ASGIApp] = {}
    for endpoint in endpoints:
        apps[endpoint.port] = guard(OneResponse(ToolsetPath(endpoint.app, toolsets)), settings)
        apps[endpoint.port + HEALTH_PORT_OFFSET] = guard(
            endpoint.health, settings, open_to_probes=True
        )
    return uvicorn.Config(
        ByPort(apps),
        lifespan="off",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.shutdown_grace_seconds,
    )


@contextlib.contextmanager
def _bound(endpoints: Sequence[Endpoint], host: str) -> Iterator[list[socket.socket]]:
    """Every port open, or none and an error that names the taken one."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(contextlib.closing(_open(host, port)))
            for endpoint in endpoints
            for port in (endpoint.port, endpoint.port + HEALTH_PORT_OFFSET)
        ]


def _open(host: str, port: int) -> socket.socket:
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
                "program. Stop it, or set the CTX_*_PORT settings (docs/configuration.md)."
            ) from error
        raise SettingsInvalid(f"CTX_HOST={host}: cannot listen on port {port}: {error}") from error


def urls(service: Service, host: str) -> dict[str, str]:
    """Where the service answers, for people."""
    at = url_host(host)
    return {
        "http": f"http://{at}:{service.http_port}{HTTP_PATH}",
        "sse": f"http://{at}:{service.sse_port}{SSE_PATH}",
        "health": f"http://{at}:{service.http_port + HEALTH_PORT_OFFSET}/readyz",
    }
