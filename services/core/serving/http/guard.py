"""Checks of every HTTP request: Host and Origin, bearer token, body size."""

import hmac
from collections.abc import Sequence
from http import HTTPStatus

from fastmcp.server.http import HostOriginGuardMiddleware
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.core.errors import NotPermitted
from services.core.serving.http.responses import error_response
from services.core.settings import Settings

SCHEME = "bearer "


class BearerGuard:
    """Answers 401 to requests without one of the configured tokens."""

    def __init__(self, app: ASGIApp, tokens: Sequence[str]) -> None:
        self._app = app
        self._tokens = [token.encode() for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._accepts(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        error = NotPermitted("A token is required: send 'Authorization: Bearer <token>'.")
        challenge = {"WWW-Authenticate": "Bearer"}
        await error_response(error, HTTPStatus.UNAUTHORIZED, challenge)(scope, receive, send)

    def _accepts(self, headers: Headers) -> bool:
        """Compare with every token, each in constant time, also after a match."""
        header = headers.get("authorization", "")
        if not header.lower().startswith(SCHEME):
            return False
        given = header[len(SCHEME) :].strip().encode()
        matches = [hmac.compare_digest(given, token) for token in self._tokens]
        return any(matches)


def guard(app: ASGIApp, settings: Settings, *, open_to_probes: bool = False) -> ASGIApp:
    """Wrap an application with all checks, Host and Origin first.

    `open_to_probes` leaves out the token, for health ports.
    """
    guarded: ASGIApp = RequestBodyLimitMiddleware(app, settings.max_body_bytes)
    tokens = [token.get_secret_value() for token in settings.auth_tokens]
    if tokens and not open_to_probes:
        guarded = BearerGuard(guarded, tokens)
    return HostOriginGuardMiddleware(
        guarded,
        allowed_hosts=settings.allowed_hosts,
        allowed_origins=settings.allowed_origins,
        mode="strict",
    )
