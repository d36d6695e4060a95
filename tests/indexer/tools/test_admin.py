"""The tools around the index, called as the server calls them and over MCP."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from services.core.engine.engine import Engine
from services.core.errors import CollectionNotFound, InvalidInput
from services.core.serving.mcp.server import build
from services.core.serving.metrics import Metrics
from services.core.serving.service import Service
from services.core.serving.sessions import SessionDefaults
from services.core.settings import Settings
from services.indexer.service import open_context
from services.indexer.tools.admin import admin_tools
from services.indexer.tools.context import IndexerContext
from services.indexer.tools.index import index_tools
from tests.indexer.conftest import Bench
from tests.support.processes import ROOT, environment
from tests.support.repositories import Repository, function

CONTRACT = {
    "qdrant_index": {"ok", "operation", "subdir", "collection", "recreate", "stats", "message"},
    "stats": {
        "files_processed",
        "chunks_created",
        "vectors_generated",
        "processing_time_seconds",
        "errors",
    },
    "qdrant_prune": {
        "ok",
        "operation",
        "points_removed",
        "points_before",
        "points_after",
        "processing_time_ms",
        "message",
    },
    "qdrant_status": {
        "ok",
        "collection",
        "exists",
        "count",
        "scanned_points",
        "last_ingested_at",
        "last_modified_at",
        "vectors_config",
        "storage_size_mb",
        "status",
    },
    "workspace_info": {"ok", "workspace_path", "default_collection", "source", "state"},
}


@pytest.fixture
def workspace(repository: Repository) -> Repository:
    repository.write("a.py", function("alpha"))
    repository.write("lib/b.py", function("beta"))
    return repository


@pytest.fixture
def context(settings: Settings, bench: Bench, workspace: Repository) -> IndexerContext:
    here = settings.model_copy(update={"workspace": workspace.root})
    return open_context(here, Engine(bench.store, bench.engine.embedder), SessionDefaults())


@pytest.fixture
def tools(context: IndexerContext) -> Any:
    """Every tool by its name."""
    found = [*index_tools(context), *admin_tools(context)]
    return type("Tools", (), {tool.name: staticmethod(tool.run) for tool in found})


async def test_index_and_status(tools: Any, context: IndexerContext) -> None:
    before = await tools.qdrant_status()
    assert (before["exists"], before["count"], before["status"]) == (False, 0, "missing")
    indexed = await tools.qdrant_index()
    assert indexed.keys() >= CONTRACT["qdrant_index"]
    assert indexed["stats"].keys() >= CONTRACT["stats"]
    assert (indexed["collection"], indexed["repo"]) == (context.default_collection, "sample")
    assert (indexed["stats"]["files_processed"], indexed["stats"]["errors"]) == (2, 0)
    status = await tools.qdrant_status(batch=1)
    assert status.keys() == CONTRACT["qdrant_status"]
    assert (status["exists"], status["count"], status["scanned_points"]) == (True, 2, 2)
    assert status["last_ingested_at"]["unix"] >= status["last_modified_at"]["unix"] > 1.7e9
    assert status["last_modified_at"]["iso"].endswith("Z")
    assert status["vectors_config"] == {"dense": 256, "bm25": 2**32}
    assert status["status"] == "healthy"
    assert (await tools.qdrant_status(max_points=1))["scanned_points"] == 1


async def test_subdir_and_a_collection_of_its_own(tools: Any, context: IndexerContext) -> None:
    other = f"{context.default_collection}-own"
    try:
        indexed = await tools.qdrant_index(subdir="lib", collection=other)
        assert (indexed["subdir"], indexed["stats"]["files_processed"]) == ("lib", 1)
        assert await context.vectors.count(other) == 1
        assert not (await tools.qdrant_status())["exists"]
    finally:
        await context.vectors.delete_collection(other)
    with pytest.raises(InvalidInput, match="outside"):
        await tools.qdrant_index(subdir="../..")


async def test_the_session_default_counts(tools: Any, context: IndexerContext) -> None:
    other = f"{context.default_collection}-session"
    token = context.sessions.set(other, None)["session"]
    try:
        assert (await tools.qdrant_index_root(session=token))["collection"] == other
    finally:
        await context.vectors.delete_collection(other)


async def test_prune(tools: Any, context: IndexerContext, workspace: Repository) -> None:
    await tools.qdrant_index_root()
    workspace.remove("a.py")
    pruned = await tools.qdrant_prune()
    assert pruned.keys() == CONTRACT["qdrant_prune"]
    counts = (pruned["points_before"], pruned["points_removed"], pruned["points_after"])
    assert counts == (2, 1, 1)
    assert (await tools.qdrant_prune())["points_removed"] == 0
    assert (await tools.qdrant_index())["stats"]["files_removed"] == 0
    await context.vectors.delete_collection(context.default_collection)
    with pytest.raises(CollectionNotFound):
        await tools.qdrant_prune()


async def test_workspaces(tools: Any, context: IndexerContext, workspace: Repository) -> None:
    info = await tools.workspace_info()
    assert info.keys() == CONTRACT["workspace_info"]
    assert (info["source"], info["default_collection"]) == ("settings", context.default_collection)
    await tools.qdrant_index()
    info = await tools.workspace_info()
    assert (info["source"], info["workspace_path"]) == ("state_file", str(workspace.root))
    assert info["state"]["files_count"] == 2
    listed = await tools.list_workspaces()
    assert listed["workspaces"] == [
        {
            "workspace_path": str(workspace.root),
            "collection_name": context.default_collection,
            "last_updated": info["state"]["updated_at"],
            "indexing_state": "completed",
        }
    ]
    assert (await tools.list_workspaces(search_root="lib"))["workspaces"] == []
    with pytest.raises(InvalidInput, match="outside"):
        await tools.list_workspaces(search_root="/etc")
    with pytest.raises(InvalidInput, match="outside"):
        await tools.workspace_info(workspace_path="..")


async def test_collection_map(tools: Any, context: IndexerContext, workspace: Repository) -> None:
    await tools.qdrant_index()
    await context.indexer.index(
        workspace.root, collection=context.default_collection, repo="second"
    )
    found = await tools.collection_map(collection=context.default_collection, include_samples=True)
    [row] = found["collections"]
    assert (row["collection"], row["points_count"], found["total"]) == (
        context.default_collection,
        4,
        1,
    )
    by_repo = {repo["repo"]: repo for repo in row["repos"]}
    assert by_repo["sample"]["points_count"] == by_repo["second"]["points_count"] == 2
    assert by_repo["second"]["workspace_paths"] == [str(workspace.root)]  # the last to index
    assert {sample["path"] for sample in row["samples"]} <= {"a.py", "lib/b.py"}
    only = await tools.collection_map(repo_name="second", limit=5)
    [row] = [c for c in only["collections"] if c["collection"] == context.default_collection]
    assert [repo["repo"] for repo in row["repos"]] == ["second"]
    with pytest.raises(CollectionNotFound):
        await tools.collection_map(collection="nowhere")


async def test_over_mcp_with_progress_and_no_deadline(
    context: IndexerContext, settings: Settings, workspace: Repository
) -> None:
    """Other calls are cut off at their first wait, an index run as long as it takes."""
    offered = [*index_tools(context), *admin_tools(context)]
    service = Service("indexer", "", offered, {}, http_port=1, sse_port=2)
    hasty = settings.model_copy(update={"operation_timeout_seconds": 1e-6})
    heard: list[tuple[float, float | None, str | None]] = []

    async def listen(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async with Client(build(service, hasty, Metrics("progress-test", {}))) as client:
        answer = await client.call_tool_mcp("qdrant_index", {}, progress_handler=listen)
        assert not answer.is_error, answer
        assert answer.structured_content["stats"]["files_added"] == 2
        cut = await client.call_tool_mcp("list_workspaces", {})
        assert cut.structured_content["error_code"] == "TIMEOUT_ERROR"
    assert heard[-1][:2] == (2, 2)
    assert "done" in str(heard[-1][2])


@pytest.mark.slow
def test_the_command_line_indexes_by_itself(workspace: Repository, tmp_path: Path) -> None:
    env = environment(tmp_path / "cli-data")

    def ctx(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "ctx", "index", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )

    shown = ctx(str(workspace.root))
    assert shown.returncode == 0, shown.stderr
    assert "Indexed sample into codebase" in shown.stdout
    assert "2 added, 0 changed, 0 removed, 0 unchanged" in shown.stdout
    assert shown.stderr == ""
    body = json.loads(ctx(str(workspace.root), "--json", "--repo", "named").stdout)
    assert (body["repo"], body["stats"]["files_added"]) == ("named", 2)
    refused = ctx(str(tmp_path / "nowhere"))
    assert refused.returncode == 2
    assert "nowhere" in refused.stderr
