"""Refuses bodies that are too large, in a way that a client's session survives."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ctx_core.errors import InvalidInput, error_body
from ctx_core.serving.http.responses import error_response

RPC_PATH = "/mcp"
INVALID_REQUEST = -32600  # JSON-RPC's code
# A body of up to so many times the limit is read to its end, and thrown away: a client that is
# answered while it still sends sees a broken connection instead of the answer.
READ_TIMES_LIMIT = 4
EDGE_BYTES = 4096  # of both ends of a body, where the id of a JSON-RPC request is
_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,256}")')


class BodyLimit:
    """Answers a body over the limit with 413, and a JSON-RPC request with an error of its id.

    Many clients give up their session at any other status than 200.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        declared = Headers(scope=scope).get("content-length", "")
        most = self._max_bytes * READ_TIMES_LIMIT
        if declared.isdecimal() and int(declared) > most:
            await self._refusal(scope, b"")(scope, receive, send)
            return
        messages: list[Message] = []
        size, edges = 0, b""
        while True:
            message = await receive()
            body: bytes = message.get("body", b"")
            size += len(body)
            if size <= self._max_bytes:
                messages.append(message)
            else:
                edges = edges or b"".join(each.get("body", b"") for each in messages)
                edges = edges[:EDGE_BYTES] + (edges[EDGE_BYTES:] + body)[-EDGE_BYTES:]
                messages.clear()
            if not message.get("more_body", False) or size > most:
                break
        if size > self._max_bytes:
            await self._refusal(scope, edges)(scope, receive, send)
        else:
            await self._app(scope, _replay(messages, receive), send)

    def _refusal(self, scope: Scope, edges: bytes) -> Response:
        error = InvalidInput(
            "body",
            f"Request body too large: the limit is {self._max_bytes} bytes (CTX_MAX_BODY_BYTES); "
            "send less at once",
        )
        id_ = _request_id(edges) if scope["path"].startswith(RPC_PATH) else None
        if id_ is None:
            return error_response(error, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        problem = {"code": INVALID_REQUEST, "message": error.message, "data": error_body(error)}
        return JSONResponse({"jsonrpc": "2.0", "id": id_, "error": problem})


def _replay(messages: Sequence[Message], receive: Receive) -> Receive:
    """Return the messages that were read, then those that follow."""
    waiting = list(reversed(messages))

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _request_id(edges: bytes) -> int | str | None:
    """Return the id of a JSON-RPC request by the ends of its body: before `params`, or last."""
    head, _, rest = edges.partition(b'"params"')
    found = _ID.search(head)
    if found is None:
        found = max(_ID.finditer(rest), key=re.Match.start, default=None)
    if found is None:
        return None
    text = found.group(1).decode(errors="replace")
    return text[1:-1] if text.startswith('"') else int(text)


def raise_library_limit(app: Starlette, max_bytes: int) -> None:
    """Let the MCP library's own limit follow ours; call it when the application has started.

    The library has no public name for the limit of its SSE endpoint: this is the only use of the
    private one.
    """
    for route in app.routes:
        manager: Any = getattr(getattr(route, "app", None), "session_manager", None)
        transport: Any = getattr(getattr(route, "app", None), "__self__", None)
        for limit in (
            getattr(manager, "asgi_app", None),
            getattr(transport, "_post_message_app", None),
        ):
            if isinstance(limit, RequestBodyLimitMiddleware):
                limit.max_body_size = max_bytes
