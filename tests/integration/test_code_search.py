"""From a folder of code to answers over MCP and at the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from tests.support.corpus import FILES
from tests.support.processes import environment, run_ctx, running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


async def test_over_mcp(tmp_path: Path, workspace: Path) -> None:
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(workspace))
    with running(env) as server:
        async with Client(server.indexer_http) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                answer = await client.call_tool(tool, arguments, raise_on_error=False)
                body: dict[str, Any] | None = answer.structured_content
                assert body is not None
                return body

            early = await call("repo_search", query="retry")
            assert early["error_code"] == "COLLECTION_NOT_FOUND"
            indexed = await call("qdrant_index")
            assert indexed["stats"]["files_processed"] == len(FILES)
            found = await call("repo_search", query="exponential backoff with jitter", limit=3)
            assert found["results"][0]["path"] == "src/net/retry.py"
            alias = await call("code_search", query="exponential backoff with jitter", limit=3)
            assert alias["results"] == found["results"]
            (workspace / "src/net/retry.py").unlink()
            assert (await call("qdrant_prune"))["points_removed"] >= 1
            gone = await call("repo_search", query="exponential backoff with jitter")
            assert "src/net/retry.py" not in [hit["path"] for hit in gone["results"]]
            outside = await call("qdrant_index", subdir="../..")
            assert outside["error_code"] == "VALIDATION_ERROR"
        searched = run_ctx(env, "search", "connection", "pool", "--json", cwd=workspace)
        assert json.loads(searched.stdout)["results"][0]["path"] == "src/net/pool.py"


def test_at_the_terminal_without_a_server(tmp_path: Path, workspace: Path) -> None:
    env = environment(tmp_path / "data")
    first = run_ctx(env, "search", "signed session cookie", "--limit", "2", cwd=workspace)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("src/auth/session.ts:")
    again = run_ctx(env, "index", "--json", cwd=workspace)
    assert json.loads(again.stdout)["stats"]["files_unchanged"] == len(FILES)
    nothing = run_ctx(env, "search", "x", "--language", "fortran", cwd=workspace)
    assert nothing.returncode == 1
    wrong = run_ctx(env, "search", "x" * 1001, cwd=workspace)
    assert wrong.returncode == 2
    assert "1000" in wrong.stderr
