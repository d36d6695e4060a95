"""Two worktrees of one repository, asked over MCP and at the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from tests.support.processes import environment, run_ctx, running
from tests.support.repositories import Repository

SHARED = "def shared_total(items):\n    return sum(items)\n"
MAIN = (
    "from shared import shared_total\n\n\n"
    "def settle_invoice(items):\n    return shared_total(items)\n"
)
TREE = (
    "from shared import shared_total\n\n\n"
    "def settle_invoice(items):\n    rounded = shared_total(items)\n    return round(rounded, 2)\n"
)
ONLY_TREE = "def refund_invoice(items):\n    return -len(items)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a repository `app` and its worktree `feature`."""
    repository = Repository.create(tmp_path / "work" / "app")
    repository.write("shared.py", SHARED)
    repository.write("invoice.py", MAIN)
    repository.commit()
    tree = tmp_path / "work" / "feature"
    repository.git("worktree", "add", "-q", str(tree))
    (tree / "invoice.py").write_text(TREE)
    (tree / "refund.py").write_text(ONLY_TREE)
    return tmp_path / "work"


async def test_each_question_sees_one_checkout(tmp_path: Path, folder: Path) -> None:
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(folder))
    with running(env) as server:
        async with Client(server.indexer_http) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                answer = await client.call_tool(tool, arguments, raise_on_error=False)
                body: dict[str, Any] | None = answer.structured_content
                assert body is not None
                return body

            for name in ("app", "feature"):
                assert (await call("qdrant_index", subdir=name))["repo"] == "app"

            async def paths(**arguments: Any) -> set[str]:
                found = await call("repo_search", query="settle refund invoice", **arguments)
                return {hit["path"] for hit in found["results"]}

            assert "app/invoice.py" in await paths()
            assert not any("refund" in path or "feature" in path for path in await paths())
            for given in ({"under": "feature"}, {"workspace_path": str(folder / "feature")}):
                seen = await paths(**given)
                assert {"feature/invoice.py", "feature/refund.py"} <= seen
                assert all(path.startswith("feature/") for path in seen)
            assert "feature/refund.py" not in await paths(repo="*", path_glob="*.py")

            lines = await call("exact_search", pattern="shared_total(items)", under="feature")
            assert [file["path"] for file in lines["results"]] == [
                "feature/invoice.py",
                "feature/shared.py",
            ]
            code = await call("read_code", name="settle_invoice", path="feature/invoice.py")
            assert "round(rounded, 2)" in code["code"]
            assert "round" not in (await call("read_code", name="settle_invoice"))["code"]
            missing = await call("read_code", name="refund_invoice")
            assert missing["error_code"] == "VALIDATION_ERROR"
            callers = await call("search_callers_for", query="shared_total", under="feature")
            assert [(use["path"], use["start_line"]) for use in callers["results"]] == [
                ("feature/invoice.py", 5)
            ]
            main = await call("search_callers_for", query="shared_total")
            assert [(use["path"], use["start_line"]) for use in main["results"]] == [
                ("app/invoice.py", 5)
            ]
            info = await call("workspace_info", workspace_path="feature")
            assert info["checkouts"] == [str(folder / "app"), str(folder / "feature")]
            assert (await call("qdrant_status"))["count"] == 2
        inside = env | {"CTX_WORKSPACE": str(folder / "feature")}
        searched = run_ctx(inside, "search", "refund", "invoice", "--json")
        assert json.loads(searched.stdout)["results"][0]["path"].endswith("feature/refund.py")
        inside = env | {"CTX_WORKSPACE": str(folder / "app")}
        searched = run_ctx(inside, "search", "settle", "invoice", "--json")
        assert "round" not in json.loads(searched.stdout)["results"][0]["snippet"]
        dropped = run_ctx(env, "workspaces", "drop", str(folder / "feature"), "--yes", "--json")
        assert json.loads(dropped.stdout)["left"] == [str(folder / "app")]
        searched = run_ctx(inside, "search", "settle", "invoice", "--json")
        assert json.loads(searched.stdout)["results"]
        again = run_ctx(env, "workspaces", "drop", str(folder / "app"), "--yes")
        assert "still indexed" not in again.stdout
