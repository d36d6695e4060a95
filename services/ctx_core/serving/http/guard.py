"""Checks of every HTTP request: Host and Origin, token, body size; and who sends it."""

import asyncio
import contextlib
from dataclasses import dataclass
from http import HTTPStatus

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ctx_core.access.grant import FULL, NOTHING, Grant
from ctx_core.access.tokens import Accepted, Tokens
from ctx_core.errors import NotPermitted
from ctx_core.serving import caller, owner
from ctx_core.serving.http.body_limit import BodyLimit
from ctx_core.serving.http.origins import HostOriginGuard
from ctx_core.serving.http.responses import error_response
from ctx_core.settings import Settings

SCHEME = "bearer "
RECHECK_SECONDS = 1.0  # of the token of a request that lasts, such as an open stream
LAST_PART: Message = {"type": "http.response.body", "body": b"", "more_body": False}


@dataclass(frozen=True)
class Admission:
    """Who is admitted: clients with a token, and the command line of the server's own user."""

    tokens: Tokens
    owner_token: str | None = None

    async def client(self, scope: Scope) -> tuple[str, Grant, Accepted | None] | None:
        """Return the name, the grant and the token of a client; None where it needs a token."""
        headers = Headers(scope=scope)
        proofs = (headers.get(owner.HEADER), headers.get(owner.LOCAL_HEADER))
        if any(owner.is_owner(each, self.owner_token) for each in proofs):
            return owner.NAME, FULL, None
        if not await self.tokens.in_force():
            host, _ = scope.get("client") or (None, 0)
            return caller.address_name(host), FULL, None
        given = _credentials(headers)
        accepted = await self.tokens.accept(given) if given else None
        if accepted is None:
            return None
        return caller.digest_name(accepted.sha256), accepted.grant, accepted


def admission(settings: Settings) -> Admission:
    """Return who these settings admit. Blocks."""
    tokens = [token.get_secret_value() for token in settings.auth_tokens]
    required = settings.tokens_file is not None
    return Admission(
        Tokens(tokens, settings.tokens_path, required=required),
        owner.ensure_owner_token(settings.data_dir),
    )


class TokenGuard:
    """Answers 401 to requests without a token, and ends those whose token ends before they do.

    Where no token is in force, the address of a client is its name.
    """

    def __init__(self, app: ASGIApp, admitted: Admission) -> None:
        self._app = app
        self._admitted = admitted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = await self._admitted.client(scope)
        if client is None:
            await _refuse(scope, receive, send)
            return
        name, grant, accepted = client
        scope = _sent_by(scope, name, grant)
        if accepted is None or not accepted.may_end:
            await self._app(scope, receive, send)
        else:
            await self._while_accepted(accepted, scope, receive, send)

    async def _while_accepted(
        self, accepted: Accepted, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a request; where its token is revoked or expires meanwhile, end the response."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        serving = asyncio.ensure_future(self._app(scope, receive, watched))
        try:
            while not (await asyncio.wait({serving}, timeout=RECHECK_SECONDS))[0]:
                if not await self._admitted.tokens.still_accepts(accepted):
                    break
        finally:
            ended = serving.done()
            if not ended:
                serving.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await serving
        if ended:
            await serving
        elif started:
            await send(LAST_PART)
        else:
            await _refuse(scope, receive, send)


class ProbeGuard:
    """Admits everybody, as probes have no token; a client without one is granted nothing more."""

    def __init__(self, app: ASGIApp, admitted: Admission) -> None:
        self._app = app
        self._admitted = admitted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = await self._admitted.client(scope)
        name, grant = (caller.LOCAL_NAME, NOTHING) if client is None else client[:2]
        await self._app(_sent_by(scope, name, grant), receive, send)


def _credentials(headers: Headers) -> bytes:
    """Return the token of a request: of its one Authorization header, never of its URL."""
    given = headers.getlist("authorization")
    if len(given) != 1 or not given[0].lower().startswith(SCHEME):
        return b""
    return given[0][len(SCHEME) :].strip().encode()


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    error = NotPermitted(
        "A valid token is required: send 'Authorization: Bearer <token>'. "
        "`ctx token create` makes one; a revoked or expired one is not accepted."
    )
    challenge = {"WWW-Authenticate": "Bearer"}
    await error_response(error, HTTPStatus.UNAUTHORIZED, challenge)(scope, receive, send)


def _sent_by(scope: Scope, client: str, grant: Grant) -> Scope:
    """Return the scope with the client's name and grant, for our limits and the MCP library.

    The library then refuses a session to anyone but the client that opened it.
    """
    user = AuthenticatedUser(AccessToken(token=client, client_id=client, scopes=[]))
    return {**scope, caller.SCOPE_KEY: client, caller.GRANT_KEY: grant, "user": user}


def guard(
    app: ASGIApp, settings: Settings, admitted: Admission, *, open_to_probes: bool = False
) -> ASGIApp:
    """Wrap an application with all checks, Host and Origin first.

    `open_to_probes` asks nobody for a token, for health ports.
    """
    limited = BodyLimit(app, settings.body_limit)
    guarded: ASGIApp = (
        ProbeGuard(limited, admitted) if open_to_probes else TokenGuard(limited, admitted)
    )
    return HostOriginGuard(guarded, settings.allowed_hosts, settings.allowed_origins)
