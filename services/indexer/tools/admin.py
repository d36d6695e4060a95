"""The tools that index, prune and tell what is indexed, in the words of the contract."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from services.core.errors import CollectionNotFound
from services.core.serving.service import Effect, Tool
from services.core.serving.sessions import COLLECTION_PATTERN, SessionToken
from services.indexer.indexing.workspace_state import find_workspaces, read_state
from services.indexer.source.workspace import WorkspacePath
from services.indexer.tools.context import IndexerContext, IndexResult
from services.indexer.tools.inventory import (
    CollectionRepos,
    Moment,
    folder_mb,
    moment,
    newest,
    repos_of,
    vectors_config,
    wanted_collections,
)

INDEXING, ADMIN = "index", "admin"
# A large repository on a slow machine; a client that gives up earlier ends the run, and the next
# call goes on where it stopped.
INDEX_SECONDS = 6 * 3600.0
MAX_SCAN = 1_000_000
MAX_BATCH = 10_000
MAX_MAP = 1_000
HEALTHY = "green"

Collection = Annotated[
    str | None,
    Field(description="Collection instead of the default one.", pattern=COLLECTION_PATTERN),
]
Recreate = Annotated[
    bool,
    Field(
        description="Drop what is indexed of this repository, and index it anew, with the model "
        "that is configured now; until it is done searches find what was there."
    ),
]
Folder = Annotated[str | None, Field(description="Folder inside the workspace root.")]


class PruneResult(TypedDict):
    """What `qdrant_prune` answers."""

    ok: bool
    operation: str
    points_removed: int
    points_before: int
    points_after: int
    processing_time_ms: int
    message: str


class StatusResult(TypedDict):
    """What `qdrant_status` answers. A server does not tell its storage size: null."""

    ok: bool
    collection: str
    exists: bool
    count: int
    scanned_points: int
    last_ingested_at: Moment | None
    last_modified_at: Moment | None
    vectors_config: dict[str, int]
    storage_size_mb: float | None
    status: str


class WorkspaceResult(TypedDict):
    """What `workspace_info` answers. `source` is `state_file`, or `settings` where none is."""

    ok: bool
    workspace_path: str
    default_collection: str
    source: str
    state: dict[str, Any]


class WorkspaceRow(TypedDict):
    """A workspace, as `list_workspaces` shows it."""

    workspace_path: str
    collection_name: str
    last_updated: str | None
    indexing_state: str


class WorkspaceList(TypedDict):
    """What `list_workspaces` answers."""

    ok: bool
    workspaces: list[WorkspaceRow]


class CollectionMap(TypedDict):
    """What `collection_map` answers."""

    ok: bool
    search_root: str
    collections: list[CollectionRepos]
    total: int


def index_tools(desk: IndexerContext) -> Sequence[Tool]:
    """The tools that write the index."""

    async def qdrant_index(
        subdir: Annotated[
            str,
            Field(description="Folder to index, relative to the workspace; all of it by default."),
        ] = "",
        recreate: Recreate = False,
        collection: Collection = None,
        session: SessionToken = None,
    ) -> IndexResult:
        """Bring the index up to date with the workspace: only what changed is processed.

        A folder that is a git repository of its own is indexed as that repository.
        """
        place = await asyncio.to_thread(desk.workspaces.place, "subdir", subdir)
        return await desk.index(place, desk.collection_of(collection, session), recreate)

    async def qdrant_index_root(
        recreate: Recreate = False, collection: Collection = None, session: SessionToken = None
    ) -> IndexResult:
        """Bring the index up to date with the whole workspace."""
        place = WorkspacePath(desk.workspaces.root, "")
        return await desk.index(place, desk.collection_of(collection, session), recreate)

    async def qdrant_prune() -> PruneResult:
        """Remove what is indexed of files that the workspace no longer has."""
        began = time.perf_counter()
        place = WorkspacePath(desk.workspaces.root, "")
        pruned = await desk.indexer.prune(
            place.workspace, collection=desk.collection_of(None), repo=desk.repo_of(place)
        )
        return {
            "ok": True,
            "operation": "prune",
            "points_removed": pruned.before - pruned.after,
            "points_before": pruned.before,
            "points_after": pruned.after,
            "processing_time_ms": round((time.perf_counter() - began) * 1000),
            "message": "Pruning completed successfully",
        }

    return [
        Tool(qdrant_index, "Index code", INDEXING, Effect.SETS, INDEX_SECONDS),
        Tool(qdrant_index_root, "Index the workspace", INDEXING, Effect.SETS, INDEX_SECONDS),
        Tool(qdrant_prune, "Prune the index", INDEXING, Effect.DESTROYS, INDEX_SECONDS),
    ]


def admin_tools(desk: IndexerContext) -> Sequence[Tool]:
    """The tools that tell what is indexed."""

    async def qdrant_status(
        collection: Collection = None,
        max_points: Annotated[
            int, Field(ge=1, le=MAX_SCAN, description="Most points to scan for their times.")
        ] = 5000,
        batch: Annotated[
            int, Field(ge=1, le=MAX_BATCH, description="Points to read at a time.")
        ] = 1000,
        session: SessionToken = None,
    ) -> StatusResult:
        """Tell how much a collection holds, how recent it is and whether it is healthy."""
        return await _status(desk, desk.collection_of(collection, session), max_points, batch)

    async def workspace_info(workspace_path: Folder = None) -> WorkspaceResult:
        """Tell where a workspace is indexed, and when it last was."""
        folder = await asyncio.to_thread(desk.workspaces.inside, "workspace_path", workspace_path)
        state = await asyncio.to_thread(read_state, folder)
        return {
            "ok": True,
            "workspace_path": str(folder),
            "default_collection": state.collection_name if state else desk.collection,
            "source": "state_file" if state else "settings",
            "state": asdict(state) if state else {},
        }

    async def list_workspaces(search_root: Folder = None) -> WorkspaceList:
        """List the workspaces that were indexed, beside this one by default."""
        root = await asyncio.to_thread(desk.workspaces.search_root, search_root)
        found = await asyncio.to_thread(lambda: dict(find_workspaces(root)))
        return {
            "ok": True,
            "workspaces": [
                {
                    "workspace_path": str(path),
                    "collection_name": state.collection_name,
                    "last_updated": state.updated_at or state.last_indexed,
                    "indexing_state": state.indexing_state,
                }
                for path, state in found.items()
            ],
        }

    async def collection_map(
        search_root: Folder = None,
        collection: Collection = None,
        repo_name: Annotated[str | None, Field(description="Only this repository.")] = None,
        include_samples: Annotated[
            bool, Field(description="Show a few indexed chunks of each collection.")
        ] = False,
        limit: Annotated[
            int | None, Field(ge=1, le=MAX_MAP, description="Most collections to show.")
        ] = None,
    ) -> CollectionMap:
        """Tell which repositories each collection holds, and from which workspaces they came."""
        root = await asyncio.to_thread(desk.workspaces.search_root, search_root)
        found = await asyncio.to_thread(lambda: dict(find_workspaces(root)))
        infos = wanted_collections(await desk.vectors.list_collections(), collection)
        if collection and not infos:
            raise CollectionNotFound(f"there is no collection {collection!r} of code")
        rows = [
            await repos_of(desk.vectors, info, found, repo=repo_name, samples=include_samples)
            for info in infos
        ]
        shown = [row for row in rows if row["repos"] or repo_name is None]
        return {
            "ok": True,
            "search_root": str(root),
            "collections": shown[:limit],
            "total": len(shown),
        }

    return [
        Tool(qdrant_status, "Collection status", ADMIN, Effect.READS),
        Tool(workspace_info, "Workspace state", ADMIN, Effect.READS),
        Tool(list_workspaces, "List workspaces", ADMIN, Effect.READS),
        Tool(collection_map, "Map collections to repositories", ADMIN, Effect.READS),
    ]


async def _status(
    desk: IndexerContext, collection: str, max_points: int, batch: int
) -> StatusResult:
    try:
        info = await desk.vectors.collection_info(collection)
    except CollectionNotFound:
        return {
            "ok": True,
            "collection": collection,
            "exists": False,
            "count": 0,
            "scanned_points": 0,
            "last_ingested_at": None,
            "last_modified_at": None,
            "vectors_config": {},
            "storage_size_mb": None,
            "status": "missing",
        }
    times = await newest(desk.vectors, collection, max_points, batch)
    folder = desk.vectors_dir / "collections" / await desk.vectors.resolve(collection)
    return {
        "ok": True,
        "collection": collection,
        "exists": True,
        "count": info.points_count,
        "scanned_points": times.scanned,
        "last_ingested_at": moment(times.ingested),
        "last_modified_at": moment(times.modified),
        "vectors_config": vectors_config(info),
        "storage_size_mb": await asyncio.to_thread(folder_mb, folder),
        "status": "healthy" if info.status == HEALTHY else info.status,
    }
