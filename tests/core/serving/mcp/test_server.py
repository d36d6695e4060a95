"""The MCP server of a service: its errors, its schemas, and what it sets inside the SDK."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import mcp.server._streamable_http_modern as sdk
import pytest
from fastmcp import Client, FastMCP
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import Receive, Scope, Send

from ctx_core.access.grant import FULL
from ctx_core.errors import StorageFailed
from ctx_core.serving import caller
from ctx_core.serving.mcp.server import build, set_input_schema_lookup
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.service import Effect, Service, Tool
from ctx_core.settings import Settings

[STATELESS] = MODERN_PROTOCOL_VERSIONS
META = "io.modelcontextprotocol"


async def echo(text: str, tags: list[str] | None = None) -> dict[str, Any]:
    """Return the arguments."""
    return {"ok": True, "text": text, "tags": tags or []}


async def fail(kind: str) -> dict[str, Any]:
    """Fail in one way or another."""
    if kind == "ours":
        raise StorageFailed("Qdrant is away", url="http://localhost")
    if kind == "late":
        await asyncio.sleep(60)
    raise RuntimeError("a secret of the process")


SERVICE = Service(
    "sample",
    "",
    [
        Tool(echo, "Echo", "reading", Effect.READS),
        Tool(fail, "Fail", "writing", Effect.ADDS, timeout_seconds=0.05),
    ],
    {},
    http_port=1,
    sse_port=2,
)


def built(**settings: Any) -> tuple[FastMCP, Metrics]:
    metrics = Metrics("sample", {})
    return build(SERVICE, Settings(**settings), metrics), metrics


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("fail", {"kind": "ours"}, "STORAGE_ERROR", "Qdrant is away"),
        ("fail", {"kind": "late"}, "TIMEOUT_ERROR", "0.05 s"),
        ("fail", {"kind": "defect"}, "INTERNAL_ERROR", "the server's log"),
        ("fail", {}, "VALIDATION_ERROR", "kind"),
        ("ecko", {}, "VALIDATION_ERROR", "did you mean echo?"),
    ],
)
async def test_every_error_is_the_same_body_and_is_counted_by_its_code(
    tool: str, arguments: dict[str, Any], code: str, message: str
) -> None:
    server, metrics = built()
    async with Client(server) as client:
        result = await client.call_tool_mcp(tool, arguments)
    assert result.is_error
    body = result.structured_content
    assert body is not None
    assert body.keys() == {"ok", "error", "error_code", "details"}
    assert (body["ok"], body["error_code"]) == (False, code)
    assert message in body["error"]
    assert "secret" not in str(result)
    assert f'outcome="{code}"' in metrics.render().decode()


async def test_a_tool_of_another_toolset_is_refused() -> None:
    server, _ = built(read_only=True)
    async with Client(server) as client:
        assert [tool.name for tool in await client.list_tools()] == ["echo"]
        result = await client.call_tool_mcp("fail", {"kind": "ours"})
    assert result.structured_content is not None
    assert result.structured_content["error_code"] == "NOT_PERMITTED"


async def test_a_result_is_counted_and_lists_may_be_json_text() -> None:
    server, metrics = built()
    async with Client(server) as client:
        result = await client.call_tool_mcp("echo", {"text": "a", "tags": '["x", "y"]'})
    assert result.structured_content == {"ok": True, "text": "a", "tags": ["x", "y"]}
    assert 'outcome="ok"' in metrics.render().decode()


# --- the private attribute -----------------------------------------------------------------


@contextlib.asynccontextmanager
async def over_http(server: FastMCP) -> AsyncIterator[httpx.AsyncClient]:
    app = server.http_app(path="/mcp")

    async def admitted(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, caller.GRANT_KEY: FULL}, receive, send)  # as the guard would

    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app=admitted), base_url="http://localhost"
        ) as client,
    ):
        yield client


async def stateless_call(client: httpx.AsyncClient) -> dict[str, Any]:
    response = await client.post(
        "/mcp",
        headers={
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": STATELESS,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "echo",
        },
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "echo",
                "arguments": {"text": "a"},
                "_meta": {
                    f"{META}/protocolVersion": STATELESS,
                    f"{META}/clientInfo": {"name": "test", "version": "0"},
                    f"{META}/clientCapabilities": {},
                },
            },
        },
    )
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def test_the_sdk_still_has_the_attribute_that_is_set() -> None:
    """fastmcp names the SDK's server `_mcp_server`; it has `get_tool_input_schema`, unset."""
    server = FastMCP("sample")
    assert vars(server._mcp_server)["get_tool_input_schema"] is None
    schemas = {"echo": {"type": "object"}}
    set_input_schema_lookup(server, schemas.get)
    assert vars(server._mcp_server)["get_tool_input_schema"] == schemas.get


async def test_a_stateless_call_lists_no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the look-up the SDK would: the second half shows that this test can fail."""
    listings = 0
    original = sdk._tool_input_schema

    async def counted(*arguments: Any) -> Any:
        nonlocal listings
        listings += 1
        return await original(*arguments)

    monkeypatch.setattr(sdk, "_tool_input_schema", counted)
    server, _ = built()
    async with over_http(server) as client:
        assert (await stateless_call(client))["result"]["structuredContent"]["text"] == "a"
        assert listings == 0
        server._mcp_server.get_tool_input_schema = None
        await stateless_call(client)
        assert listings == 1
