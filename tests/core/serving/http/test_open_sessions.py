"""The number of MCP sessions that one endpoint keeps."""

import httpx
import pytest
from fastmcp import FastMCP

from ctx_core.serving.http import open_sessions
from ctx_core.serving.http.open_sessions import OpenSessions
from tests.integration.test_guard import ACCEPT, INITIALIZE

JSON = {"content-type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


async def test_the_session_used_longest_ago_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_sessions, "MAX_OPEN_SESSIONS", 2)
    app = FastMCP("test").http_app(path="/mcp", host_origin_protection=False)
    limited = OpenSessions(app)
    transport = httpx.ASGITransport(app=limited)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):

        async def opened() -> str:
            answer = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
            return str(answer.headers["mcp-session-id"])

        async def status(session: str) -> int:
            headers = ACCEPT | {"mcp-session-id": session}
            return (await client.post("/mcp", json=PING, headers=headers)).status_code

        first, second = await opened(), await opened()
        assert await status(first) == 200
        third = await opened()
        assert await status(second) == 404
        assert [await status(first), await status(third)] == [200, 200]


async def test_requests_that_open_no_session_end_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_sessions, "MAX_OPEN_SESSIONS", 1)
    app = FastMCP("test").http_app(path="/mcp", host_origin_protection=False)
    transport = httpx.ASGITransport(app=OpenSessions(app))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        opened = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        for body in (b"{", b"[]", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'):
            refused = await client.post("/mcp", content=body, headers=ACCEPT | JSON)
            assert refused.status_code == 400
        headers = ACCEPT | {"mcp-session-id": opened.headers["mcp-session-id"]}
        assert (await client.post("/mcp", json=PING, headers=headers)).status_code == 200
