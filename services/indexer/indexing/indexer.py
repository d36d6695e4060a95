"""Indexing a workspace: look → plan → prepare → embed → store. The only way code gets in."""

import asyncio
import contextlib
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from services.core.clock import utc_now
from services.core.embedding.protocol import Embedder
from services.core.errors import CtxError, InvalidInput, StorageFailed
from services.core.vectors.protocol import VectorStore
from services.indexer.indexing import workspace_state as workspaces
from services.indexer.indexing.copy import carry
from services.indexer.indexing.manifest import Manifest, RepoKey
from services.indexer.indexing.plan import Plan, is_under, make_plan
from services.indexer.indexing.prepare import INDEX_VERSION, Job, Prepared
from services.indexer.indexing.report import (
    Failure,
    IndexReport,
    Listener,
    Progress,
    Stage,
    no_progress,
)
from services.indexer.indexing.scan import scan
from services.indexer.indexing.verify import path_counts, stale_paths
from services.indexer.indexing.workers import Workers
from services.indexer.indexing.writer import BATCH_CHUNKS, Writer
from services.indexer.schema.points import holds_code, spec
from services.indexer.source.repo import repo_of
from services.indexer.source.walk import Limits, checked

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.25  # between two reports to the listener
STATE_SECONDS = 2.0  # between two writes of the workspace's state while it is being indexed
BROKEN = "red"  # what Qdrant says of a collection that does not work


@dataclass(frozen=True)
class Pruned:
    """What pruning did to a collection."""

    before: int
    after: int


class Indexer:
    """Brings a collection up to date with a workspace.

    One run at a time for a collection: whoever comes second waits, and then finds most of its work
    done. A run may be ended at any moment; the next one finishes its work.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        state: Manifest,
        *,
        store_key: str,
        reserved: str = "",
        limits: Limits | None = None,
        processes: int = 0,
    ) -> None:
        """`store_key` names the Qdrant for good; `reserved` is the collection of memories."""
        self._store = store
        self._embedder = embedder
        self._state = state
        self._store_key = store_key
        self._reserved = reserved
        self._limits = limits or Limits()
        self._workers = Workers(processes)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def index(
        self,
        workspace: Path,
        *,
        collection: str,
        repo: str | None = None,
        subdir: str = "",
        recreate: bool = False,
        progress: Listener = no_progress,
    ) -> IndexReport:
        """Index what was added or changed under `subdir`, and remove what is gone.

        A worktree is the same repo as its main checkout, and takes its place in the collection.
        `recreate` builds the collection anew with the configured model: this repo from its files,
        others from what the old one holds of them. Until it is whole the old one answers.
        """
        workspace = await asyncio.to_thread(checked, workspace)
        if collection == self._reserved:
            raise InvalidInput("collection", f"{collection!r} belongs to the memory server")
        async with self._turns[collection]:
            shelf = await self._shelf(workspace, collection, repo)
            async with _state_kept(workspace, shelf, progress) as run:
                if recreate and await self._is_there(shelf):
                    report = await self._recreated(shelf, workspace, subdir, run)
                else:
                    await self._open(shelf)
                    report = await self._run(shelf, workspace, subdir, run)
                run.report = replace(report, recreated=recreate)
        return run.report

    async def prune(self, workspace: Path, *, collection: str, repo: str | None = None) -> Pruned:
        """Remove the points of files that the workspace no longer has."""
        workspace = await asyncio.to_thread(checked, workspace)
        async with self._turns[collection]:
            shelf = await self._shelf(workspace, collection, repo)
            before = await self._store.count(collection)
            rows = await self._state.rows(shelf)
            found = await asyncio.to_thread(scan, workspace, "", self._limits, rows)
            there = {file.path for file in found.files}
            stored = await path_counts(self._store, shelf)
            gone = sorted(path for path in {*stored, *rows} if path not in there)
            await self._writer(shelf, Plan.nothing()).remove(gone)
            return Pruned(before, await self._store.count(collection))

    def close(self) -> None:
        self._state.close()

    async def _shelf(self, workspace: Path, collection: str, repo: str | None) -> RepoKey:
        """A repo that is not named is named by git, apart from others of the same name."""
        if repo is not None:
            return RepoKey(self._store_key, collection, repo)
        found = await asyncio.to_thread(repo_of, workspace)
        shelf = RepoKey(self._store_key, collection, found.name)
        if await self._state.owner(shelf, found.identity) != found.identity:
            return replace(shelf, repo=found.apart())
        return shelf

    async def _open(self, shelf: RepoKey) -> None:
        """The collection is there, holds code, and was built with this model."""
        await self._store.ensure_collection(shelf.collection, spec(self._embedder))

    async def _is_there(self, shelf: RepoKey) -> bool:
        names = {info.name for info in await self._store.list_collections()}
        return shelf.collection in names

    async def _recreated(
        self, shelf: RepoKey, workspace: Path, subdir: str, run: "_Run"
    ) -> IndexReport:
        """Rows are kept under the new collection's own name until it has taken the old one's, so
        that a run which is cut short changes nothing; the next one begins anew."""
        carries = await self._carries(shelf)
        await self._state.forget_builds(shelf.store, shelf.collection)
        built = await self._store.build(shelf.collection, spec(self._embedder))
        try:
            if carries:
                await self._carry(shelf, built, run)
            behind = replace(shelf, collection=built)
            report = await self._run(behind, workspace, subdir, run)
        except BaseException:
            with contextlib.suppress(CtxError):
                await self._store.delete_collection(built)
            raise
        await self._store.swap(shelf.collection, built)
        await self._state.promote(shelf, built)
        return replace(report, collection=shelf.collection, carried=run.carried)

    async def _carry(self, shelf: RepoKey, built: str, run: "_Run") -> None:
        await run.tell("carrying", 0, 0)
        pages = carry(self._store, self._embedder, shelf.collection, built, but=shelf.repo)
        async with aclosing(pages):
            async for carried in pages:
                run.carried = carried
                await run.tell("carrying", 0, 0)

    async def _carries(self, shelf: RepoKey) -> bool:
        """Whether the old collection can be read; one of ours that cannot is left behind."""
        try:
            info = await self._store.collection_info(shelf.collection)
        except StorageFailed as error:
            if not await self._broken(shelf):
                raise
            log.warning("%s: every other repo of it must be indexed again", error.message)
            return False
        if holds_code(info):
            return True
        if info.spec.purpose or not await self._state.repos(shelf.store, shelf.collection):
            raise InvalidInput(
                "collection", f"{shelf.collection!r} holds something else than code: name another"
            )
        log.warning(
            "collection %s is of an earlier version: every other repo of it must be indexed again",
            shelf.collection,
        )
        return False

    async def _broken(self, shelf: RepoKey) -> bool:
        """Whether this is a collection of ours that cannot be loaded."""
        ours = await self._state.repos(shelf.store, shelf.collection)
        states = {info.name: info.status for info in await self._store.list_collections()}
        return bool(ours) and states.get(shelf.collection) == BROKEN

    async def _run(self, shelf: RepoKey, workspace: Path, subdir: str, run: "_Run") -> IndexReport:
        began = time.monotonic()
        await run.tell("looking", 0, 0)
        rows = await self._state.rows(shelf)
        doubtful = await stale_paths(self._store, shelf, rows)
        started = time.time()
        found = await asyncio.to_thread(scan, workspace, subdir, self._limits, rows)
        plan = make_plan(found.files, rows, scheme=INDEX_VERSION, doubtful=doubtful, subdir=subdir)
        writer = self._writer(shelf, plan, started)
        failures = await self._write(writer, plan, workspace, run)
        await run.tell("removing", len(plan.writes), len(plan.writes))
        await writer.remove(plan.removed)
        await writer.touch(plan.touched, rows)
        failed = {failure.path for failure in failures}
        elsewhere = [row for row in rows.values() if not is_under(row.path, subdir)]
        return IndexReport(
            workspace=workspace,
            subdir=subdir,
            collection=shelf.collection,
            repo=shelf.repo,
            recreated=False,
            added=sum(file.path not in failed for file in plan.added),
            changed=sum(file.path not in failed for file in plan.changed),
            removed=len(plan.removed),
            unchanged=len(plan.unchanged),
            chunks=run.chunks,
            files=len(found.files) - len(failed) + len(elsewhere),
            size=sum(f.size for f in found.files) + sum(row.size for row in elsewhere),
            seconds=time.monotonic() - began,
            failures=failures,
            skipped=found.skipped,
        )

    async def _write(
        self, writer: Writer, plan: Plan, workspace: Path, run: "_Run"
    ) -> list[Failure]:
        """Batches that span files; one is written while the workers prepare the next."""
        job = Job(workspace, writer.shelf.repo, utc_now(), self._limits, files=plan.writes)
        failures: list[Failure] = []
        batch: list[Prepared] = []
        total = len(plan.writes)
        await run.tell("writing", 0, total)
        async with aclosing(self._workers.prepared(job)) as outcomes:
            async for outcome in outcomes:
                if isinstance(outcome, Failure):
                    failures.append(outcome)
                    continue
                batch.append(outcome)
                if sum(len(each.chunks) for each in batch) >= BATCH_CHUNKS:
                    await writer.write(batch)
                    run.count(batch)
                    batch = []
                    await run.tell("writing", run.files + len(failures), total)
        if batch:
            await writer.write(batch)
            run.count(batch)
        return failures

    def _writer(self, shelf: RepoKey, plan: Plan, started: float = 0.0) -> Writer:
        return Writer(self._store, self._embedder, self._state, shelf, plan.replacing, started)


class _Run:
    """One run under way: what it has written, and who hears of it."""

    def __init__(
        self, workspace: Path, state: workspaces.WorkspaceState, listener: Listener
    ) -> None:
        self._workspace = workspace
        self._listener = listener
        self._told = self._kept = 0.0
        self._stage: Stage | None = None
        self.state = state
        self.files = self.chunks = 0
        self.carried: Mapping[str, int] = {}
        self.report: IndexReport

    def count(self, batch: list[Prepared]) -> None:
        self.files += len(batch)
        self.chunks += sum(len(each.chunks) for each in batch)

    async def tell(self, stage: Stage, done: int, total: int) -> None:
        """Each stage at once, what follows in it now and then."""
        now = time.monotonic()
        progress = Progress(stage, done, total, self.chunks + sum(self.carried.values()))
        if now - self._kept >= STATE_SECONDS:
            self._kept = now
            await self.keep(workspaces.advanced(self.state, progress))
        if stage != self._stage or now - self._told >= PROGRESS_SECONDS:
            self._stage, self._told = stage, now
            await self._listener(progress)

    async def keep(self, state: workspaces.WorkspaceState) -> None:
        self.state = state
        await asyncio.to_thread(workspaces.write_state, self._workspace, state)


@contextlib.asynccontextmanager
async def _state_kept(workspace: Path, shelf: RepoKey, listener: Listener) -> AsyncIterator[_Run]:
    """The workspace's state file says how the run goes, and how it ended."""
    state = await asyncio.to_thread(workspaces.started, workspace, shelf.collection, shelf.repo)
    run = _Run(workspace, state, listener)
    try:
        yield run
    except BaseException:
        # Not awaited: a cancelled run must end at once, and the file is small.
        workspaces.write_state(workspace, workspaces.failed(run.state))
        raise
    await run.keep(workspaces.completed(run.state, run.report))
    await run.tell("done", run.files, run.files)
