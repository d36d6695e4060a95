"""The tools that describe the index: collections, their status, workspaces."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ctx_core.access.access import current
from ctx_core.blocking import DISK
from ctx_core.errors import CollectionNotFound, CtxError
from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, HasVector
from ctx_core.vectors.specs import CollectionInfo
from ctx_indexer.indexing.workspace_state import WorkspaceState
from ctx_indexer.schema.points import holds_code
from ctx_indexer.tools.context import CollectionArgument, IndexerContext, hiding_folders
from ctx_indexer.tools.inventory import (
    NO_TIMES,
    code_collections,
    collection_repos,
    folder_mb,
    moment,
    newest_times,
)
from ctx_indexer.tools.responses import (
    CollectionMapResult,
    CollectionRow,
    CollectionsResult,
    StatusResult,
    WatchedWorkspace,
    WorkspaceResult,
    WorkspacesResult,
)
from ctx_indexer.view.view import View
from ctx_indexer.view.views import ViewArguments
from ctx_indexer.watch.status import WorkspaceStatus

TOOLSET = "admin"
MAX_SCAN = 1_000_000
MAX_BATCH = 10_000
MAX_MAP = 1_000
HEALTHY = "green"  # Qdrant's word

Folder = Annotated[str | None, Field(description="Folder inside the workspace root.")]


def admin_tools(context: IndexerContext) -> Sequence[Tool]:
    """Build the tools that describe the index."""

    async def qdrant_status(
        collection: CollectionArgument = None,
        max_points: Annotated[
            int, Field(ge=1, le=MAX_SCAN, description="Maximum points to scan for their times.")
        ] = 5000,
        batch: Annotated[
            int, Field(ge=1, le=MAX_BATCH, description="Points to read at a time.")
        ] = 1000,
        session: SessionToken = None,
    ) -> StatusResult:
        """Tell how much a collection holds, how recent it is and whether it is healthy."""
        view = await context.views.resolve(ViewArguments(collection, session))
        chosen = view.collection
        status = await _status(context, view, max_points, batch)
        if context.watch is not None:
            followed = context.watch.statuses(chosen)
            status["watch"] = [
                _watched(each) for each in followed if current().reaches_repo(chosen, each.repo)
            ]
        return status

    async def qdrant_list() -> CollectionsResult:
        """List all collections with their sizes and states."""
        infos = await context.vectors.list_collections()
        return {"ok": True, "collections": [await _row(context.vectors, info) for info in infos]}

    async def workspace_info(workspace_path: Folder = None) -> WorkspaceResult:
        """Tell where a workspace is indexed, and when it last was."""
        with hiding_folders():
            inside = context.workspaces.inside
            folder = await DISK.run(inside, "workspace_path", workspace_path)
            state = await DISK.run(context.indexer.states.read, folder)
            if state is None or not _reaches(state):
                current().require_everything("this folder")
        limits = current().limits
        result: WorkspaceResult = {
            "ok": True,
            "workspace_path": str(folder),
            # Where searches look, which is not always where the workspace was last indexed.
            "default_collection": "" if limits else context.default_collection,
            "source": "settings",
            "state": asdict(state) if state else {},
        }
        if state:
            known = await context.indexer.checkouts.of(state.collection_name)
            others = [str(each.root) for each in known if each.repo == state.repo]
            if len(others) > 1:
                result["checkouts"] = others
        return result

    async def list_workspaces(search_root: Folder = None) -> WorkspacesResult:
        """List the workspaces that were indexed, beside this one by default."""
        _, states = await _states(context, search_root)
        return {
            "ok": True,
            "workspaces": [
                {
                    "workspace_path": str(path),
                    "collection_name": state.collection_name,
                    "repo": state.repo,
                    "last_updated": state.updated_at or state.last_indexed,
                    "indexing_state": state.indexing_state,
                }
                for path, state in states.items()
            ],
        }

    async def collection_map(
        search_root: Folder = None,
        collection: CollectionArgument = None,
        repo_name: Annotated[str | None, Field(description="Only this repository.")] = None,
        include_samples: Annotated[
            bool, Field(description="Show a few indexed chunks of each collection.")
        ] = False,
        limit: Annotated[
            int | None, Field(ge=1, le=MAX_MAP, description="Maximum collections to show.")
        ] = None,
    ) -> CollectionMapResult:
        """Tell which repositories each collection holds, and from which workspaces they came."""
        root, states = await _states(context, search_root)
        infos = code_collections(await context.vectors.list_collections(), collection)
        if collection and not infos:
            raise CollectionNotFound(f"there is no collection {collection!r} of code")
        rows = [
            await collection_repos(
                context.vectors,
                info,
                await context.views.resolve(ViewArguments(info.name)),
                states,
                repo=repo_name,
                samples=include_samples,
            )
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
        Tool(qdrant_status, "Collection status", TOOLSET, Effect.READS),
        Tool(qdrant_list, "List collections", TOOLSET, Effect.READS),
        Tool(workspace_info, "Workspace state", TOOLSET, Effect.READS),
        Tool(list_workspaces, "List workspaces", TOOLSET, Effect.READS),
        Tool(collection_map, "Map collections to repositories", TOOLSET, Effect.READS),
    ]


async def _states(
    context: IndexerContext, search_root: str | None
) -> tuple[Path, dict[Path, WorkspaceState]]:
    """Return a folder and the indexed workspaces below it that the caller reaches."""
    with hiding_folders():
        root = await DISK.run(context.workspaces.search_root, search_root)
    states = await DISK.run(context.indexer.states.find, root)
    return root, {path: state for path, state in states.items() if _reaches(state)}


def _reaches(state: WorkspaceState) -> bool:
    return current().reaches_repo(state.collection_name, state.repo)


def _watched(status: WorkspaceStatus) -> WatchedWorkspace:
    shown: WatchedWorkspace = {
        "path": status.path,
        "state": status.state,
        "pending": status.pending,
        "lag_seconds": status.lag_seconds,
    }
    if status.reason:
        shown["reason"] = status.reason
    return shown


async def _row(store: VectorStore, info: CollectionInfo) -> CollectionRow:
    return {
        "name": info.name,
        "vectors_count": await _dense_vectors(store, info),
        "segments_count": info.segments_count,
        "points_count": info.points_count,
        "indexed_vectors_count": info.indexed_vectors_count,
        "status": info.status,
        "optimizer_status": info.optimizer_status,
    }


async def _dense_vectors(store: VectorStore, info: CollectionInfo) -> int | None:
    """Count the dense vectors of a collection; None where it cannot be read."""
    try:
        counts = [
            await store.count(info.name, Filter(must=[HasVector(name)])) for name in info.spec.dense
        ]
    except CtxError:
        return None
    return sum(counts)


async def _status(context: IndexerContext, view: View, max_points: int, batch: int) -> StatusResult:
    collection = view.collection
    try:
        info = await context.vectors.collection_info(collection)
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
    times = NO_TIMES  # only chunks of code have them
    seen = view.narrowed()
    if holds_code(info):
        times = await newest_times(context.vectors, collection, seen, max_points, batch)
    folder = context.vectors_dir / "collections" / await context.vectors.resolve(collection)
    return {
        "ok": True,
        "collection": collection,
        "exists": True,
        "count": await context.vectors.count(collection, seen) if seen else info.points_count,
        "scanned_points": times.scanned,
        "last_ingested_at": moment(times.indexed),
        "last_modified_at": moment(times.modified),
        "vectors_config": dict(info.spec.dense),
        "storage_size_mb": None if current().limits else await DISK.run(folder_mb, folder),
        "status": "healthy" if info.status == HEALTHY else info.status,
    }
