"""Both servers at one address: every tool once, and calls that reach the right server."""

from pathlib import Path

import httpx
from fastmcp import Client

from tests.support.processes import environment, running


async def tools(url: str) -> list[str]:
    async with Client(url) as client:
        return [tool.name for tool in await client.list_tools()]


async def test_one_address_for_both(tmp_path: Path) -> None:
    workspace = tmp_path / "shop"
    workspace.mkdir()
    (workspace / "retry.py").write_text("def retry_with_jitter(call):\n    return call()\n")
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(workspace))
    with running(env) as server:
        memory, indexer = await tools(server.memory_http), await tools(server.indexer_http)
        both = await tools(server.both_http)
        shared = set(memory) & set(indexer)
        assert "set_session_defaults" in shared
        assert len(both) == len(set(both)) == len(memory) + len(indexer)
        assert set(indexer) <= set(both)
        assert {f"memory_{name}" for name in shared} <= set(both)
        lean = await tools(server.both_http + "/x/lean")
        assert {"repo_search", "find"} <= set(lean)
        assert len(lean) < len(both) / 3
        async with Client(server.both_http) as client:
            await client.call_tool("store", {"information": "Retries wait with jitter."})
            found = await client.call_tool("find", {"query": "jitter"})
            assert "Retries" in str(found.structured_content)
            await client.call_tool("qdrant_index", {})
            searched = await client.call_tool("repo_search", {"query": "retry with jitter"})
            assert "retry.py" in str(searched.structured_content)
            set_there = await client.call_tool(
                "memory_set_session_defaults", {"collection": "memories"}
            )
            assert set_there.structured_content is not None
            assert set_there.structured_content["defaults"]["collection"] == "memories"
        health = server.both_http.replace("/mcp", "/readyz").replace(
            env["CTX_HTTP_PORT"], str(int(env["CTX_HTTP_PORT"]) + 10_000)
        )
        async with httpx.AsyncClient(trust_env=False) as client_of_health:
            answer = (await client_of_health.get(health)).json()
        assert answer["ok"] is True
        assert {"memory_sql", "indexer_qdrant"} <= set(answer["checks"])
