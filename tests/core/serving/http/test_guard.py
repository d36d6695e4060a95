"""The token of an HTTP request: who is let in, and when that ends."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from ctx_core.access import tokens as tokens_module
from ctx_core.access.grant import Limits
from ctx_core.access.grant import Scope as TokenScope
from ctx_core.access.token import new_token
from ctx_core.access.token_file import changed_tokens
from ctx_core.access.tokens import Tokens
from ctx_core.serving import caller
from ctx_core.serving.http import guard as guard_module
from ctx_core.serving.http.guard import Admission, ProbeGuard, TokenGuard
from ctx_core.serving.owner import HEADER, LOCAL_HEADER


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read again at every request, so that no test waits for a second."""
    monkeypatch.setattr(tokens_module, "REREAD_SECONDS", 0.0)
    monkeypatch.setattr(guard_module, "RECHECK_SECONDS", 0.02)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


async def welcome(scope: Scope, receive: Receive, send: Send) -> None:
    grant = caller.grant_of(scope)
    body = {"scope": grant.scope.word, "limited": grant.limits is not None}
    response: Response = JSONResponse({**body, "client": caller.client_of(scope)})
    assert Request(scope).user.is_authenticated
    await response(scope, receive, send)


def admitted(file: Path, *full: str, owner: str | None = None) -> Admission:
    return Admission(Tokens(full, file), owner)


def add(file: Path, scope: str = "read", **limits: object) -> str:
    secret, kept = new_token("a test", scope, **limits)  # type: ignore[arg-type]
    with changed_tokens(file) as tokens:
        tokens.append(kept)
    return secret


async def get(
    app: TokenGuard | ProbeGuard, *headers: tuple[str, str], at: str = "/mcp"
) -> Response:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        found = await client.get(at, headers=list(headers))
    return JSONResponse(found.json(), found.status_code, dict(found.headers))


async def status(app: TokenGuard, authorization: str, **more: str) -> int:
    return (await get(app, ("Authorization", authorization), *more.items())).status_code


@pytest.mark.parametrize("header", ["Bearer first", "bearer second", "BEARER  first "])
async def test_each_token_of_the_settings_is_accepted(file: Path, header: str) -> None:
    app = TokenGuard(welcome, admitted(file, "first", "second"))
    response = await get(app, ("Authorization", header))
    assert response.status_code == 200
    assert b'"scope":"admin","limited":false' in response.body


@pytest.mark.parametrize(
    "header", [None, "", "first", "Bearer", "Bearer third", "Basic first", "Bearer FIRST"]
)
async def test_anything_else_is_a_401_with_an_error_body(file: Path, header: str | None) -> None:
    app = TokenGuard(welcome, admitted(file, "first"))
    response = await get(app, *([] if header is None else [("Authorization", header)]))
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert b'"error_code":"NOT_PERMITTED"' in response.body
    assert b"Authorization: Bearer" in response.body


async def test_a_token_in_the_url_or_in_two_headers_is_not_accepted(file: Path) -> None:
    secret = add(file)
    app = TokenGuard(welcome, admitted(file))
    for name in ("token", "access_token", "authorization"):
        assert (await get(app, at=f"/mcp?{name}={secret}")).status_code == 401
    twice = [("Authorization", f"Bearer {secret}"), ("Authorization", "Bearer other")]
    assert (await get(app, *twice)).status_code == 401
    assert await status(app, f"Bearer {secret}") == 200
    assert await status(app, f"Bearer {secret.swapcase()}") == 401


def test_the_file_holds_no_token_and_is_for_its_user_alone(file: Path) -> None:
    secret = add(file)
    assert secret not in file.read_text()
    assert secret.removeprefix("ctx_") not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


async def test_a_grant_has_the_scope_and_the_limits_of_its_token(file: Path) -> None:
    secret = add(file, "write", collections=["a"], projects=["p"])
    accepted = await Tokens([], file).accept(secret.encode())
    assert accepted is not None
    assert accepted.grant.scope is TokenScope.WRITE
    assert accepted.grant.limits == Limits(frozenset({"a"}), frozenset({"p"}))


async def test_without_a_file_nobody_is_asked_and_once_there_was_one_everybody_is(
    file: Path,
) -> None:
    app = TokenGuard(welcome, admitted(file))
    assert (await get(app)).status_code == 200
    secret = add(file)
    assert (await get(app)).status_code == 401
    assert await status(app, f"Bearer {secret}") == 200
    file.unlink()  # noqa: ASYNC240 - as another process would
    assert (await get(app)).status_code == 401
    assert await status(app, f"Bearer {secret}") == 401


@pytest.mark.parametrize("content", ["", "{}", '{"version": 2, "tokens": []}', "[1]", "\0"])
async def test_a_garbled_file_accepts_nobody(file: Path, content: str) -> None:
    file.write_text(content)  # noqa: ASYNC240
    app = TokenGuard(welcome, admitted(file, "kept"))
    assert (await get(app)).status_code == 401
    assert await status(app, "Bearer kept") == 200


async def test_an_expired_token_is_refused(file: Path) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.2)
    secret = add(file, expires_at=soon)
    app = TokenGuard(welcome, admitted(file))
    assert await status(app, f"Bearer {secret}") == 200
    await asyncio.sleep(0.25)
    assert await status(app, f"Bearer {secret}") == 401


async def test_a_stream_that_is_open_ends_when_its_token_is_revoked(file: Path) -> None:
    secret = add(file)
    sent: list[Message] = []

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(60)

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    authorization = (b"authorization", f"Bearer {secret}".encode())
    scope = {"type": "http", "method": "GET", "path": "/sse", "headers": [authorization]}
    serving = asyncio.create_task(TokenGuard(stream, admitted(file))(scope, receive, send))
    await asyncio.sleep(0.1)
    assert not serving.done()
    with changed_tokens(file) as tokens:
        tokens.clear()
    await asyncio.wait_for(serving, 5)
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]


async def test_the_owner_needs_no_token_but_the_right_proof(file: Path) -> None:
    add(file)
    app = TokenGuard(welcome, admitted(file, owner="proof"))
    for header in (HEADER, LOCAL_HEADER):
        assert (await get(app, (header, "proof"))).status_code == 200
        assert (await get(app, (header, "other"))).status_code == 401
        assert (await get(app, (header, ""))).status_code == 401


async def test_probes_need_no_token_and_are_granted_nothing(file: Path) -> None:
    secret = add(file)
    app = ProbeGuard(welcome, admitted(file))
    assert b'"limited":true' in (await get(app)).body
    assert b'"limited":false' in (await get(app, ("Authorization", f"Bearer {secret}"))).body
