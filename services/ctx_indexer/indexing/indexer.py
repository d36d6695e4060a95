"""Indexes and prunes workspaces: the only way code gets into a collection."""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from ctx_core.blocking import DISK, GIT
from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import CollectionNotFound, InvalidInput
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.indexing.changes import Signatures, changed_paths
from ctx_indexer.indexing.checkouts import Diverged, IndexedCheckouts
from ctx_indexer.indexing.lease import ALL_REPOS, NO_LEASE, Lease, Leases, NoLeases
from ctx_indexer.indexing.progress import RunProgress, track_progress, track_update
from ctx_indexer.indexing.recreate import is_earlier
from ctx_indexer.indexing.recreate import recreate as recreate_collection
from ctx_indexer.indexing.report import IndexReport, Listener, no_progress
from ctx_indexer.indexing.run import IndexRun
from ctx_indexer.indexing.scan import scan
from ctx_indexer.indexing.verify import compare
from ctx_indexer.indexing.workers import Workers
from ctx_indexer.indexing.workspace_state import OWN_FOLDER, WorkspaceStates
from ctx_indexer.indexing.writer import Writer
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import RepoKey
from ctx_indexer.schema.fields import repo_filter
from ctx_indexer.schema.points import holds_code, spec
from ctx_indexer.source.repo import Repo, repo_of
from ctx_indexer.source.walk import FileLimits
from ctx_indexer.source.workspace import resolve_workspace

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pruned:
    """The points of a collection before and after pruning."""

    before: int
    after: int


class Indexer:
    """Brings collections up to date with workspaces.

    Runs of one collection wait for each other. A run may be cancelled at any moment; the next one
    finishes its work.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        manifest: Manifest,
        *,
        store_key: str,
        reserved: str = "",
        limits: FileLimits | None = None,
        processes: int = 0,
        leases: Leases | None = None,
    ) -> None:
        """`store_key` names the Qdrant in the manifest; `reserved` is the memories' collection."""
        self._store = store
        self._embedder = embedder
        self._manifest = manifest
        self._store_key = store_key
        self.states = WorkspaceStates(manifest.path.parent / OWN_FOLDER)
        self._reserved = reserved
        self.limits = limits or FileLimits()
        self._workers = Workers(processes)
        self._leases = leases or NoLeases()
        self.checkouts = IndexedCheckouts(manifest, store_key)
        self.files = manifest.files
        self._problems: dict[int, str] = {}
        # Called after each run, with whether all of the checkout is indexed now.
        self.on_indexed: list[Callable[[Checkout, bool], None]] = []
        # Called for each checkout that is dropped, before anything else can write it.
        self.on_dropped: list[Callable[[Checkout], None]] = []
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

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
        """Index the files that were added or changed in `subdir`, and remove files that are gone.

        A worktree shares the name of its main checkout, and the points of files that are the same.
        `recreate` builds the collection anew with the configured model: this repo from its files,
        the others from their stored chunks. Raises InvalidInput for a collection of something
        else, ModelMismatch for one of another model unless `recreate`, RepoInUse where another
        process writes the repo.
        """
        workspace = await GIT.run(resolve_workspace, workspace)
        if collection == self._reserved:
            raise InvalidInput("collection", f"{collection!r} belongs to the memory server")
        async with self._locks[collection]:
            key = await self._repo_key(workspace, collection, repo)
            try:
                checkout, tracked = await self._index(key, workspace, subdir, recreate, progress)
            except Diverged:
                key = await self._own_key(key, workspace)
                log.warning("%s differs much from the others: indexed as %s", workspace, key.repo)
                checkout, tracked = await self._index(key, workspace, subdir, recreate, progress)
            await self._forget_gone(collection)
            if not subdir:
                self._problems.pop(checkout.id, None)
        for listener in self.on_indexed:
            listener(checkout, tracked.state.whole)
        return tracked.report

    async def _index(
        self, key: RepoKey, workspace: Path, subdir: str, recreate: bool, progress: Listener
    ) -> tuple[Checkout, RunProgress]:
        """Index a checkout of a repo. Raises Diverged, after which it is none of that repo's."""
        checkout = await self._record_checkout(key, workspace)
        written = replace(key, repo=ALL_REPOS) if recreate else key
        async with (
            self._leases.hold(written, workspace) as lease,
            track_progress(self.states, workspace, key, progress) as tracked,
        ):
            run = self._run(workspace, tracked, subdir=subdir, lease=lease)
            try:
                tracked.report = await self._update(run, checkout, recreate)
            except Diverged:
                await self._forget(checkout)
                raise
        return checkout, tracked

    async def update(self, checkout: Checkout, paths: Collection[str]) -> IndexReport:
        """Bring an indexed checkout up to date with these files, and all files in these folders.

        Raises CollectionNotFound, StorageFailed, or IndexingFailed where no worker can run.
        """
        async with (
            self._locks[checkout.key.collection],
            self.hold(checkout) as lease,
            track_update(self.states, checkout.root, checkout.key) as tracked,
        ):
            run = self._run(checkout.root, tracked, paths=paths, lease=lease)
            known = await self._record_checkout(checkout.key, checkout.root)
            tracked.report = await run.update(known)
        return tracked.report

    def hold(self, checkout: Checkout) -> AbstractAsyncContextManager[Lease]:
        """Hold the lease of a repo during a block; raises RepoInUse, which names its owner."""
        return self._leases.hold(checkout.key, checkout.root)

    async def changed(self, checkout: Checkout, skipped: Signatures) -> set[str]:
        """Return the paths whose files are not those of the manifest, by their sizes and times.

        `skipped` remembers, from one call to the next, the files that are never indexed.
        """
        recorded = await self.checkouts.signatures(checkout)
        return await GIT.run(changed_paths, checkout.root, self.limits, recorded, skipped)

    async def prune(self, workspace: Path, *, collection: str, repo: str | None = None) -> Pruned:
        """Remove the points of files that the workspace no longer has.

        Raises CollectionNotFound.
        """
        workspace = await GIT.run(resolve_workspace, workspace)
        async with self._locks[collection]:
            key = await self._repo_key(workspace, collection, repo)
            async with self._leases.hold(key, workspace):
                before = await self._store.count(collection)
                await self._forget_gone(collection)
                checkout = await self._record_checkout(key, workspace)
                rows = await self._manifest.files.of(checkout)
                versions = await self._manifest.versions.of_repo(key)
                mismatch = await compare(self._store, key, versions)
                scanned = await GIT.run(scan, workspace, "", self.limits, rows)
                present = {file.path for file in scanned.files}
                writer = self._writer(checkout)
                await writer.remove([path for path in rows if path not in present])
                gone = [path for path in mismatch.orphans if path not in present]
                await writer.delete_orphans(gone)
                return Pruned(before, await self._store.count(collection))

    async def drop(
        self, collection: str, repo: str | None = None, root: Path | None = None
    ) -> Pruned:
        """Remove a repo from a collection, or the whole collection; files on disk stay.

        `root` is the checkout of the repo to remove; its others stay. Raises CollectionNotFound, or
        InvalidInput where it does not hold code or such a repo.
        """
        info = await self._store.collection_info(collection)
        if not holds_code(info):
            raise InvalidInput("collection", f"{collection!r} holds no code; it is kept by ctx")
        async with self._locks[collection]:
            every = await self.checkouts.of(collection)
            chosen = [each for each in every if repo in (None, each.repo)]
            if repo is not None and not chosen:
                raise InvalidInput("repo", f"{repo!r} is not indexed in {collection!r}")
            named = [each for each in chosen if each.root == root]
            if named and len(named) < len(chosen):
                await self._forget(named[0])
                await self._end(named[0])
                return Pruned(info.points_count, await self._store.count(collection))
            for checkout in chosen:
                if repo is not None:
                    await self._store.delete(collection, repo_filter(repo))
                await self._manifest.checkouts.remove_repo(checkout.key)
                await self._end(checkout)
            if repo is None:
                await self._store.delete_collection(collection)
                return Pruned(info.points_count, 0)
            return Pruned(info.points_count, await self._store.count(collection))

    async def check(self, collection: str) -> list[str]:
        """Return the problems of the index of each repo; `problems` has each until it is indexed.

        An older copy of the store, or a damaged one, lacks files that the manifest lists.
        """
        async with self._locks[collection]:
            await self._forget_gone(collection)
            for checkout in await self.checkouts.of(collection):
                if stale := await self._stale_count(checkout):
                    self._problems[checkout.id] = _stale_problem(checkout, stale)
        return self.problems

    async def forget_gone(self, collection: str) -> None:
        """Forget worktrees that were removed; the only checkout of a repo stays."""
        async with self._locks[collection]:
            await self._forget_gone(collection)

    async def _stale_count(self, checkout: Checkout) -> int:
        """Count the files whose points differ from the manifest."""
        rows = await self._manifest.files.of(checkout)
        versions = await self._manifest.versions.of_repo(checkout.key)
        try:
            mismatch = await compare(self._store, checkout.key, versions)
        except CollectionNotFound:
            return len(rows)
        lost = {path for path, row in rows.items() if (path, row.blob) in mismatch.lost}
        return len(lost | mismatch.orphans)

    async def _record_checkout(self, key: RepoKey, workspace: Path) -> Checkout:
        linked = await DISK.run((workspace / ".git").is_file)
        return await self._manifest.checkouts.record(key, workspace, linked=linked)

    async def _forget_gone(self, collection: str) -> None:
        """Forget checkouts without a folder, and delete the points that only they had."""
        for checkout in await self.checkouts.gone(collection):
            log.info("%s is gone: its part of the index is removed", checkout.root)
            await self._forget(checkout)

    async def _forget(self, checkout: Checkout) -> None:
        """Forget a checkout, and delete the points that only it had."""
        await self._manifest.checkouts.forget(checkout)
        self._problems.pop(checkout.id, None)
        with contextlib.suppress(CollectionNotFound):
            await self._writer(checkout).sweep()

    async def _end(self, checkout: Checkout) -> None:
        """Remove the state and the problems of a checkout, and tell that it was dropped."""
        self._problems.pop(checkout.id, None)
        await GIT.run(self.states.remove, checkout.root, checkout.key.collection)
        for listener in self.on_dropped:
            listener(checkout)

    def _writer(self, checkout: Checkout) -> Writer:
        return Writer(self._store, self._embedder, self._manifest, checkout)

    @property
    def problems(self) -> list[str]:
        return list(self._problems.values())

    def close(self) -> None:
        self._manifest.close()

    def _run(
        self,
        workspace: Path,
        progress: RunProgress,
        *,
        subdir: str = "",
        paths: Collection[str] | None = None,
        lease: Lease = NO_LEASE,
    ) -> IndexRun:
        return IndexRun(
            self._store,
            self._embedder,
            self._manifest,
            self._workers,
            self.limits,
            workspace,
            subdir,
            progress,
            paths,
            lease,
        )

    async def _repo_key(self, workspace: Path, collection: str, repo: str | None) -> RepoKey:
        """Name the repo as given, else by git, unlike another repository of that name.

        A checkout that has become a repo of its own stays one.
        """
        if repo is not None:
            key = RepoKey(self._store_key, collection, repo)
        else:
            named = await GIT.run(repo_of, workspace)
            key = await self._claimed(RepoKey(self._store_key, collection, named.name), named)
        here = await self.checkouts.at(collection, workspace)
        own = [each.key for each in here if each.repo.startswith(f"{key.repo}@")]
        return own[0] if own else key

    async def _claimed(self, key: RepoKey, named: Repo) -> RepoKey:
        if await self._manifest.checkouts.claim_name(key, named.identity) != named.identity:
            return replace(key, repo=named.disambiguated_name())
        return key

    async def _own_key(self, key: RepoKey, workspace: Path) -> RepoKey:
        """Name a checkout that shares no points with the others of its repo."""
        own = Repo(f"{key.repo}@{workspace.name}", str(workspace))
        return await self._claimed(replace(key, repo=own.name), own)

    async def _update(self, run: IndexRun, checkout: Checkout, recreate: bool) -> IndexReport:
        """Update a collection, or recreate it: on request, or as an earlier version built it."""
        key = checkout.key
        if recreate and await self._exists(key.collection):
            return replace(await recreate_collection(run, checkout), recreated=True)
        if await self._is_outdated(run, key):
            whole = replace(run, subdir="")  # the rest of the repo is not in the new collection
            return replace(await recreate_collection(whole, checkout), recreated=True)
        await self._store.ensure_collection(key.collection, spec(self._embedder))
        return replace(await run.update(checkout), recreated=recreate)

    async def _exists(self, collection: str) -> bool:
        """Whether the store has a collection, also one that cannot be loaded."""
        return collection in {info.name for info in await self._store.list_collections()}

    async def _is_outdated(self, run: IndexRun, key: RepoKey) -> bool:
        """Whether an earlier version built the collection with the configured model.

        One of another model is left to `ensure_collection`, which raises ModelMismatch.
        """
        try:
            info = await self._store.collection_info(key.collection)
        except CollectionNotFound:
            return False
        same_model = info.spec.model == spec(self._embedder).model
        return same_model and await is_earlier(run, key, info)


def _stale_problem(checkout: Checkout, stale: int) -> str:
    return (
        f"the index of {checkout.repo} in collection {checkout.key.collection} lacks the current "
        f"content of {stale:,} files, as if the vectors were older than the manifest, or a run was "
        f"interrupted: run `ctx index {checkout.root}`"
    )
