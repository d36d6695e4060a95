"""Bounds the MCP sessions of a Streamable HTTP endpoint."""

import logging
from collections import OrderedDict
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

SESSION_HEADER = b"mcp-session-id"
FIRST_ERROR = 400  # such a response opened nothing, though the library names a session in it
MAX_OPEN_SESSIONS = 1_000  # about 43 KB each


class OpenSessions:
    """Ends the session that was used longest ago where too many are open, as its client could."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._scopes: OrderedDict[bytes, Scope] = OrderedDict()  # of the request that opened it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = _session(scope["headers"])
        if given in self._scopes:
            self._scopes.move_to_end(given)

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < FIRST_ERROR:
                opened = _session(message.get("headers", ()))
                if opened and opened != given:
                    self._scopes[opened] = scope
            await send(message)

        await self._app(scope, receive, watched)
        if scope.get("method") == "DELETE" and given:
            self._scopes.pop(given, None)
        while len(self._scopes) > MAX_OPEN_SESSIONS:
            await self._end(*self._scopes.popitem(last=False))

    async def _end(self, session: bytes, opened_by: Scope) -> None:
        log.warning(
            "ended the MCP session used longest ago: more than %d are open", MAX_OPEN_SESSIONS
        )
        kept = [
            (b"host", b"localhost"),
            (b"accept", b"application/json"),
            (SESSION_HEADER, session),
        ]
        await self._app({**opened_by, "method": "DELETE", "headers": kept}, _nothing, _drop)


def _session(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    return next((value for name, value in headers if name.lower() == SESSION_HEADER), b"")


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _drop(_: Message) -> None:
    return None
