"""What stands before the tools, asked over real HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from ctx_core.serving.mcp.schemas import SPEAKING_NAMES
from tests.support.processes import Server, environment, running

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def post(url: str, headers: dict[str, str] | None = None, body: Any = INITIALIZE) -> httpx.Response:
    return httpx.post(url, json=body, headers=ACCEPT | (headers or {}))


def client(url: str, headers: dict[str, str]) -> "Client[StreamableHttpTransport]":
    return Client(StreamableHttpTransport(url, headers=headers))


async def tool_names(url: str, headers: dict[str, str] | None = None) -> set[str]:
    async with client(url, headers or {}) as connected:
        return {tool.name for tool in await connected.list_tools()}


def test_loopback_names_are_welcome(server: Server) -> None:
    port = server.memory_http.split(":")[2].split("/")[0]
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert post(server.memory_http, {"Host": f"{host}:{port}"}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil"])
def test_a_foreign_host_is_refused_everywhere(server: Server, host: str) -> None:
    assert post(server.memory_http, {"Host": host}).status_code == 421
    assert httpx.get(server.memory_sse, headers={"Host": host}).status_code == 421
    health = f"{server.memory_health}/tools"
    assert httpx.get(health, headers={"Host": host}).status_code == 421


def test_a_foreign_origin_is_refused(server: Server) -> None:
    assert post(server.memory_http, {"Origin": "https://evil.example"}).status_code == 403
    assert post(server.memory_http, {"Origin": "http://localhost:3000"}).status_code == 200
    assert (
        httpx.get(server.indexer_sse, headers={"Origin": "https://evil.example"}).status_code == 403
    )


def test_a_body_that_is_too_large_is_refused(server: Server) -> None:
    huge = {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "y" * (20 * 1024 * 1024)}}
    refused = post(server.memory_http, body=huge)
    assert refused.status_code == 200
    assert refused.json()["id"] == 7
    assert refused.json()["error"]["data"]["error_code"] == "VALIDATION_ERROR"
    huge.pop("id")
    refused = post(server.memory_http, body=huge)
    assert refused.status_code == 413
    assert refused.json()["details"]["field"] == "body"


async def test_toolsets_by_url(server: Server) -> None:
    searches = set(
        "repo_search code_search exact_search read_code search_callers_for search_importers_for "
        "symbol_graph search_tests_for search_config_for info_request context_search "
        "context_answer expand_query change_history_for_path search_commits_for".split()
    )
    assert await tool_names(f"{server.indexer_http}/x/search") == searches
    assert await tool_names(f"{server.indexer_http}/x/memory") == {"memory_store"}
    everything = await tool_names(server.indexer_http)
    assert await tool_names(f"{server.indexer_http}/x/all") == everything
    assert len(everything) > 3
    answer = post(f"{server.indexer_http}/x/nonsense")
    assert answer.status_code == 404
    assert "admin" in answer.json()["error"]


async def test_toolsets_by_header(server: Server) -> None:
    assert await tool_names(server.memory_http, {"X-MCP-Toolsets": "session"}) == {
        "set_session_defaults"
    }
    readers = await tool_names(f"{server.memory_http}/x/memory", {"X-MCP-Readonly": "true"})
    assert readers == {"find", "list_memories"}


async def test_a_hidden_tool_is_refused_too(server: Server) -> None:
    async with client(server.memory_http, {"X-MCP-Readonly": "true"}) as connected:
        answer = await connected.call_tool("store", {"information": "x"}, raise_on_error=False)
        assert answer.is_error
        assert answer.structured_content is not None
        assert answer.structured_content["error_code"] == "NOT_PERMITTED"
        assert not (await connected.call_tool("find", {"query": "x"})).is_error


async def test_every_tool_carries_hints_and_schemas(server: Server) -> None:
    for url in (server.memory_http, server.indexer_http):
        async with client(url, {}) as connected:
            for tool in await connected.list_tools():
                hints = tool.annotations
                assert hints is not None
                assert hints.read_only_hint is not None, tool.name
                if not hints.read_only_hint:
                    assert hints.destructive_hint is not None, tool.name
                    assert hints.idempotent_hint is not None, tool.name
                assert tool.description
                assert tool.output_schema, tool.name
                for name, schema in tool.input_schema.get("properties", {}).items():
                    is_clear = schema.get("description") or name in SPEAKING_NAMES
                    assert is_clear, f"{tool.name}.{name}"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with tokens, a rate limit and a small body cap."""
    env = environment(
        tmp_path_factory.mktemp("strict") / "data",
        CTX_AUTH_TOKENS="token-one,token-two",
        CTX_RATE_LIMIT_PER_MINUTE="30",
        CTX_MAX_BODY_BYTES="2048",
        CTX_ALLOWED_HOSTS="ctx.example",
        CTX_ALLOWED_ORIGINS="https://app.example",
        CTX_TOOLSETS="memory",
    )
    with running(env) as started:
        yield started


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_tokens(strict: Server) -> None:
    assert post(strict.memory_http).status_code == 401
    assert post(strict.memory_http, bearer("wrong")).status_code == 401
    assert post(strict.memory_http, {"Authorization": "Basic token-one"}).status_code == 401
    assert post(strict.memory_http, bearer("token-one")).status_code == 200
    assert post(strict.memory_http, bearer("token-two")).status_code == 200
    assert httpx.get(strict.memory_sse).status_code == 401
    assert httpx.get(f"{strict.memory_health}/readyz").status_code == 200


def test_the_allow_lists(strict: Server) -> None:
    def status(**headers: str) -> int:
        return post(strict.memory_http, bearer("token-one") | headers).status_code

    assert status(Host="ctx.example") == 200
    assert status(Host="other.example") == 421
    assert status(Origin="https://app.example") == 200
    assert status(Origin="https://other.example") == 403


def test_the_body_cap_is_a_setting(strict: Server) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * 3000}}
    refused = post(strict.memory_http, bearer("token-one"), body)
    assert "2048 bytes" in refused.json()["error"]["message"]


async def test_the_toolset_setting(strict: Server) -> None:
    assert await tool_names(strict.memory_http, bearer("token-one")) == {
        "store",
        "find",
        "update_memory",
        "delete_memory",
        "list_memories",
    }


async def test_the_rate_limit_is_by_client(strict: Server) -> None:
    async with client(strict.memory_http, bearer("token-one")) as connected:
        answers = [
            await connected.call_tool("find", {"query": "x"}, raise_on_error=False)
            for _ in range(8)
        ]
        refused = [a.structured_content for a in answers if a.is_error]
        assert refused
        assert refused[0] is not None
        assert refused[0]["error_code"] == "RATE_LIMIT_ERROR"
        assert refused[0]["details"]["retry_after_seconds"] > 0
    async with client(strict.memory_http, bearer("token-two")) as connected:
        assert not (await connected.call_tool("find", {"query": "x"})).is_error


async def test_an_operation_that_takes_too_long(tmp_path: Path) -> None:
    env = environment(tmp_path / "data", CTX_OPERATION_TIMEOUT_SECONDS="0.0001")
    with running(env) as hurried:
        async with client(hurried.memory_http, {}) as connected:
            answer = await connected.call_tool("find", {"query": "x"}, raise_on_error=False)
    assert answer.structured_content is not None
    assert answer.structured_content["error_code"] == "TIMEOUT_ERROR"
    assert "CTX_OPERATION_TIMEOUT_SECONDS" in answer.structured_content["error"]
