"""The tools that read what is indexed, called as the server calls them."""

from typing import Any

import pytest

from ctx_core.errors import CollectionNotFound, InvalidInput
from ctx_indexer.tools.context import IndexerContext
from tests.support.repositories import Repository

CONTRACT = {
    "qdrant_index": {"ok", "operation", "subdir", "collection", "recreate", "stats", "message"},
    "stats": {
        "files_processed",
        "chunks_created",
        "vectors_generated",
        "processing_time_seconds",
        "errors",
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
    assert status["vectors_config"] == {"dense": 256}
    assert status["status"] == "healthy"
    assert (await tools.qdrant_status(max_points=1))["scanned_points"] == 1


async def test_workspaces(tools: Any, context: IndexerContext, workspace: Repository) -> None:
    info = await tools.workspace_info()
    assert info.keys() == CONTRACT["workspace_info"]
    assert (info["source"], info["default_collection"]) == ("settings", context.default_collection)
    await tools.qdrant_index()
    info = await tools.workspace_info()
    assert (info["source"], info["workspace_path"]) == ("settings", str(workspace.root))
    assert info["state"]["files_count"] == 2
    listed = await tools.list_workspaces()
    assert listed["workspaces"] == [
        {
            "workspace_path": str(workspace.root),
            "collection_name": context.default_collection,
            "repo": "sample",
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
