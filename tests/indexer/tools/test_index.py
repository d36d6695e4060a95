"""The tools that write the index, called as the server calls them and over MCP."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from ctx_core.errors import CollectionNotFound, InvalidInput
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.service import Service
from ctx_core.settings import Settings
from ctx_indexer.tools.admin import admin_tools
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.index import index_tools
from tests.indexer.conftest import Bench
from tests.support.processes import ROOT, environment
from tests.support.repositories import Repository

PRUNE_RESULT = {
    "ok",
    "operation",
    "points_removed",
    "points_before",
    "points_after",
    "processing_time_ms",
    "message",
}


async def test_subdir_and_a_collection_of_its_own(
    tools: Any, context: IndexerContext, bench: Bench
) -> None:
    other = f"{context.default_collection}-own"
    try:
        indexed = await tools.qdrant_index(subdir="lib", collection=other)
        assert (indexed["subdir"], indexed["stats"]["files_processed"]) == ("lib", 1)
        assert await context.vectors.count(other) == 1
        assert not (await tools.qdrant_status())["exists"]
    finally:
        await bench.store.delete_collection(other)
    with pytest.raises(InvalidInput, match="outside"):
        await tools.qdrant_index(subdir="../..")


async def test_the_session_default_counts(
    tools: Any, context: IndexerContext, bench: Bench
) -> None:
    other = f"{context.default_collection}-session"
    token = context.sessions.set(other, None)["session"]
    try:
        assert (await tools.qdrant_index_root(session=token))["collection"] == other
    finally:
        await bench.store.delete_collection(other)


async def test_prune(
    tools: Any, context: IndexerContext, workspace: Repository, bench: Bench
) -> None:
    await tools.qdrant_index_root()
    workspace.remove("a.py")
    pruned = await tools.qdrant_prune()
    assert pruned.keys() == PRUNE_RESULT
    counts = (pruned["points_before"], pruned["points_removed"], pruned["points_after"])
    assert counts == (2, 1, 1)
    assert (await tools.qdrant_prune())["points_removed"] == 0
    assert (await tools.qdrant_index())["stats"]["files_removed"] == 0
    await bench.store.delete_collection(context.default_collection)
    with pytest.raises(CollectionNotFound):
        await tools.qdrant_prune()


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
