"""The ASGI applications between uvicorn and the MCP library."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ctx_core.errors import InvalidInput
from ctx_core.serving.http.responses import error_response
from ctx_core.serving.toolsets import ALL, LEAN, SCOPE_KEY, URL_INFIX

HTTP_PATH, SSE_PATH = "/mcp", "/sse"
OPTIONAL_SPACE = b" \t"  # RFC 9110 calls it OWS


class ToolsetPath:
    """Serves /mcp/x/NAME as /mcp with the toolset NAME chosen; an unknown NAME is a 404."""

    def __init__(self, app: ASGIApp, toolsets: frozenset[str]) -> None:
        self._app = app
        self._toolsets = toolsets | {ALL, LEAN}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        prefix = HTTP_PATH + URL_INFIX
        if not path.startswith(prefix):
            await self._app(scope, receive, send)
            return
        name = path.removeprefix(prefix).rstrip("/")
        if name not in self._toolsets:
            known = ", ".join(sorted(self._toolsets))
            error = InvalidInput("toolset", f"there is no {name!r}; choose one of: {known}")
            await error_response(error, HTTPStatus.NOT_FOUND)(scope, receive, send)
            return
        rewritten = {**scope, "path": HTTP_PATH, "raw_path": HTTP_PATH.encode(), SCOPE_KEY: name}
        await self._app(rewritten, receive, send)


class SingleResponse:
    """Drops a second start of a response.

    When the server stops, the MCP library's SSE endpoint starts a second response on an open
    stream; of that one only the end may be sent.
    """

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


class PortRouter:
    """The root application: passes each request to the application of its port."""

    def __init__(self, apps: Mapping[int, ASGIApp]) -> None:
        self._apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # httptools leaves the white space behind a header's value, which is no part of it.
        scope["headers"] = [
            (name, value.rstrip(OPTIONAL_SPACE)) for name, value in scope["headers"]
        ]
        await self._apps[scope["server"][1]](scope, receive, send)
