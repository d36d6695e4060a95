"""The tools that write the index, and the tools of the server's own user."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.access.access import current
from ctx_core.access.grant import Scope
from ctx_core.blocking import DISK, GIT
from ctx_core.serving import caller, progress
from ctx_core.serving.service import Effect, Reach, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_indexer.indexing.report import IndexReport, Progress
from ctx_indexer.source.repo import repo_of
from ctx_indexer.source.workspace import WorkspacePath
from ctx_indexer.tools.context import CollectionArgument, IndexerContext, hiding_folders
from ctx_indexer.tools.responses import IndexResult, PruneResult

TOOLSET = "index"
# A large repository on a slow machine; a client that gives up earlier ends the run, and the next
# call continues it.
INDEX_SECONDS = 6 * 3600.0

Recreate = Annotated[
    bool,
    Field(
        description="Index this repository anew, with the configured model; searches find the old "
        "index until it is done."
    ),
]


class DroppedResult(TypedDict):
    """The points removed from a collection; `repos` are the checkouts whose folders are gone.

    `left` are the folders that the repo of a removed folder is still indexed from.
    """

    ok: bool
    collection: str
    points_removed: int
    repos: list[str]
    left: NotRequired[list[str]]


def index_tools(context: IndexerContext) -> Sequence[Tool]:
    """Build the tools that write the index."""

    async def qdrant_index(
        subdir: Annotated[
            str,
            Field(description="Folder to index, relative to the workspace; all of it by default."),
        ] = "",
        recreate: Recreate = False,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> IndexResult:
        """Bring the index up to date with the workspace: only what changed is processed.

        A folder that is a git repository of its own is indexed as that repository.
        """
        anywhere = caller.current.get().is_owner
        target = context.views.collection(collection, session)
        with hiding_folders():
            locate = context.workspaces.locate
            location = await DISK.run(locate, "subdir", subdir, anywhere=anywhere)
        return await index_workspace(context, location, target, recreate)

    async def qdrant_index_root(
        recreate: Recreate = False,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> IndexResult:
        """Bring the index up to date with the whole workspace."""
        target = context.views.collection(collection, session)
        return await index_workspace(context, _root(context), target, recreate)

    async def qdrant_prune() -> PruneResult:
        """Remove what is indexed of files that the workspace no longer has."""
        started = time.perf_counter()
        location = _root(context)
        pruned = await context.indexer.prune(
            location.workspace,
            collection=context.views.collection(None),
            repo=context.repo_of(location),
        )
        return {
            "ok": True,
            "operation": "prune",
            "points_removed": pruned.before - pruned.after,
            "points_before": pruned.before,
            "points_after": pruned.after,
            "processing_time_ms": round((time.perf_counter() - started) * 1000),
            "message": "Pruning completed successfully",
        }

    return [
        Tool(qdrant_index, "Index code", TOOLSET, Effect.SETS, INDEX_SECONDS, lean=True),
        Tool(qdrant_index_root, "Index the workspace", TOOLSET, Effect.SETS, INDEX_SECONDS),
        Tool(
            qdrant_prune,
            "Prune the index",
            TOOLSET,
            Effect.DESTROYS,
            INDEX_SECONDS,
            scope=Scope.ADMIN,
            reach=Reach.EVERYTHING,
        ),
    ]


def owner_tools(context: IndexerContext) -> Sequence[Tool]:
    """Return the tools of the owner's command line."""
    indexer = context.indexer

    async def drop_collection(
        collection: str, repo: str | None = None, folder: str | None = None
    ) -> DroppedResult:
        """Remove a collection of code, one repo of it, or one folder of a repo. Files stay."""
        repos = [each.repo for each in await indexer.checkouts.of(collection)]
        dropped = await indexer.drop(collection, repo, Path(folder) if folder else None)
        result: DroppedResult = {
            "ok": True,
            "collection": collection,
            "points_removed": dropped.before - dropped.after,
            "repos": repos if repo is None else [repo],
        }
        if folder:
            left = await indexer.checkouts.of(collection) if dropped.after else []
            result["left"] = [str(each.root) for each in left if each.repo == repo]
        return result

    async def prune_collection(collection: str | None = None) -> DroppedResult:
        """Remove files that no longer exist, and repos whose folders are gone."""
        name = context.views.collection(collection)
        gone, removed = [], 0
        for checkout in await indexer.checkouts.of(name):
            if await DISK.run(checkout.root.is_dir):
                pruned = await indexer.prune(checkout.root, collection=name, repo=checkout.repo)
            else:
                pruned = await indexer.drop(name, checkout.repo)
                gone.append(checkout.repo)
            removed += pruned.before - pruned.after
        return {"ok": True, "collection": name, "points_removed": removed, "repos": gone}

    return [
        Tool(drop_collection, "Drop a collection", TOOLSET, Effect.DESTROYS, INDEX_SECONDS),
        Tool(prune_collection, "Prune a collection", TOOLSET, Effect.DESTROYS, INDEX_SECONDS),
    ]


async def index_workspace(
    context: IndexerContext, location: WorkspacePath, collection: str, recreate: bool
) -> IndexResult:
    """Index a folder into a collection and report progress to the caller.

    Raises InvalidInput for a collection of something else, ModelMismatch unless `recreate`, and
    NotPermitted for a folder that the caller does not reach.
    """
    await _require_reach(context, location, collection, recreate)
    report = await context.indexer.index(
        location.workspace,
        collection=collection,
        repo=context.repo_of(location),
        subdir=location.subdir,
        recreate=recreate,
        progress=_report_progress,
    )
    return _result(report)


async def _require_reach(
    context: IndexerContext, location: WorkspacePath, collection: str, recreate: bool
) -> None:
    """Raise NotPermitted for a repo that a limited caller could not read otherwise.

    Else it could bring any folder of the server into a collection that it reaches.
    """
    if recreate:
        current().require_scope(Scope.ADMIN, "recreate")
        current().require_collection(collection)
    if current().limits is None:
        return
    repo = context.repo_of(location) or (await GIT.run(repo_of, location.workspace)).name
    known = await context.indexer.checkouts.of(collection)
    if not any(location.workspace == each.root for each in known):
        current().require_project(repo)


def _root(context: IndexerContext) -> WorkspacePath:
    return WorkspacePath(context.workspaces.root, "")


async def _report_progress(step: Progress) -> None:
    await progress.report(step.done, step.total or None, f"{step.stage}, {step.chunks} chunks")


def _result(report: IndexReport) -> IndexResult:
    failed = len(report.failures)
    return {
        "ok": True,
        "operation": "index",
        "subdir": report.subdir,
        "collection": report.collection,
        "repo": report.repo,
        "recreate": report.recreated,
        "stats": {
            "files_processed": report.written,
            "chunks_created": report.chunks,
            "vectors_generated": report.chunks,
            "processing_time_seconds": round(report.seconds, 3),
            "errors": failed,
            "files_added": report.added,
            "files_changed": report.changed,
            "files_removed": report.removed,
            "files_unchanged": report.unchanged,
            "skipped": dict(report.skipped),
            "copied": dict(report.copied),
            "redacted": dict(report.redacted),
            "failures": [asdict(failure) for failure in report.failures],
        },
        "message": f"Indexing completed; {failed} files failed"
        if failed
        else "Indexing completed successfully",
    }
