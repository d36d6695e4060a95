"""Checks of every HTTP request: Host and Origin, bearer token, body size; and who sends it."""

import hmac
from collections.abc import Sequence
from http import HTTPStatus

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.core.errors import NotPermitted
from services.core.serving import caller
from services.core.serving.http.body_limit import BodyLimit
from services.core.serving.http.origins import HostOriginGuard
from services.core.serving.http.responses import error_response
from services.core.settings import Settings

SCHEME = "bearer "


class BearerGuard:
    """Answers 401 to requests without one of the configured tokens."""

    def __init__(self, app: ASGIApp, tokens: Sequence[str]) -> None:
        self._app = app
        self._tokens = [token.encode() for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = self._accepted(Headers(scope=scope))
        if token is not None:
            await self._app(_sent_by(scope, caller.token_name(token)), receive, send)
            return
        error = NotPermitted("A token is required: send 'Authorization: Bearer <token>'.")
        challenge = {"WWW-Authenticate": "Bearer"}
        await error_response(error, HTTPStatus.UNAUTHORIZED, challenge)(scope, receive, send)

    def _accepted(self, headers: Headers) -> bytes | None:
        """Compare with every token, each in constant time, also after a match; return the one."""
        header = headers.get("authorization", "")
        if not header.lower().startswith(SCHEME):
            return None
        given = header[len(SCHEME) :].strip().encode()
        matches = [token for token in self._tokens if hmac.compare_digest(given, token)]
        return matches[0] if matches else None


class ByAddress:
    """Takes the address of a client for its name, where no token says who it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host, _ = scope.get("client") or (None, 0)
        await self._app(_sent_by(scope, caller.address_name(host)), receive, send)


def _sent_by(scope: Scope, client: str) -> Scope:
    """Return the scope with the client's name, for our limits and for the MCP library.

    The library then refuses a session to anyone but the client that opened it.
    """
    user = AuthenticatedUser(AccessToken(token=client, client_id=client, scopes=[]))
    return {**scope, caller.SCOPE_KEY: client, "user": user}


def guard(app: ASGIApp, settings: Settings, *, open_to_probes: bool = False) -> ASGIApp:
    """Wrap an application with all checks, Host and Origin first.

    `open_to_probes` leaves out the token, for health ports.
    """
    guarded: ASGIApp = BodyLimit(app, settings.body_limit)
    tokens = [token.get_secret_value() for token in settings.auth_tokens]
    by_token = tokens and not open_to_probes
    guarded = BearerGuard(guarded, tokens) if by_token else ByAddress(guarded)
    return HostOriginGuard(guarded, settings.allowed_hosts, settings.allowed_origins)
