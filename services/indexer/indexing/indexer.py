"""Indexes and prunes workspaces: the only way code gets into a collection."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from services.core.blocking import GIT
from services.core.embedding.protocol import Embedder
from services.core.errors import CollectionNotFound, InvalidInput
from services.core.vectors.protocol import VectorStore
from services.indexer.indexing.changes import Signatures, changed_paths
from services.indexer.indexing.lease import ALL_REPOS, NO_LEASE, Lease, Leases, NoLeases
from services.indexer.indexing.manifest import Manifest, ManifestRow, RepoKey
from services.indexer.indexing.progress import RunProgress, track_progress, track_update
from services.indexer.indexing.recreate import is_earlier
from services.indexer.indexing.recreate import recreate as recreate_collection
from services.indexer.indexing.report import IndexReport, Listener, no_progress
from services.indexer.indexing.run import IndexRun
from services.indexer.indexing.scan import scan
from services.indexer.indexing.verify import path_counts, stale_paths
from services.indexer.indexing.workers import Workers
from services.indexer.indexing.workspace_state import OWN_FOLDER, WorkspaceStates
from services.indexer.indexing.writer import Writer
from services.indexer.schema.fields import repo_filter
from services.indexer.schema.points import holds_code, spec
from services.indexer.source.repo import repo_of
from services.indexer.source.walk import FileLimits
from services.indexer.source.workspace import resolve_workspace


@dataclass(frozen=True)
class Pruned:
    """The points of a collection before and after pruning."""

    before: int
    after: int


@dataclass(frozen=True)
class Checkout:
    """A repo of a collection, and the folder that it is indexed from."""

    key: RepoKey
    root: Path

    @property
    def repo(self) -> str:
        return self.key.repo


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
        self._problems: dict[RepoKey, str] = {}
        # Called after each run, with whether all of the checkout is indexed now.
        self.on_indexed: list[Callable[[Checkout, bool], None]] = []
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
        """Index what was added or changed in `subdir`, and remove what is gone from it.

        A worktree shares the name of its main checkout, and replaces it in the collection.
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
            await self._manifest.record_checkout(key, workspace)
            written = replace(key, repo=ALL_REPOS) if recreate else key
            async with (
                self._leases.hold(written, workspace) as lease,
                track_progress(self.states, workspace, key, progress) as tracked,
            ):
                run = self._run(workspace, tracked, subdir=subdir, lease=lease)
                tracked.report = await self._update(run, key, recreate)
            if not subdir:
                self._problems.pop(key, None)
        for listener in self.on_indexed:
            listener(Checkout(key, workspace), tracked.state.whole)
        return tracked.report

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
            tracked.report = await run.update(checkout.key)
        return tracked.report

    def hold(self, checkout: Checkout) -> AbstractAsyncContextManager[Lease]:
        """Hold the lease of a repo during a block; raises RepoInUse, which names its owner."""
        return self._leases.hold(checkout.key, checkout.root)

    async def changed(self, checkout: Checkout, skipped: Signatures) -> set[str]:
        """Return the paths whose files are not those of the manifest, by their sizes and times.

        `skipped` remembers, from one call to the next, the files that are never indexed.
        """
        rows = await self._manifest.rows(checkout.key)
        return await GIT.run(changed_paths, checkout.root, self.limits, rows, skipped)

    async def prune(self, workspace: Path, *, collection: str, repo: str | None = None) -> Pruned:
        """Remove the points of files that the workspace no longer has.

        Raises CollectionNotFound.
        """
        workspace = await GIT.run(resolve_workspace, workspace)
        async with self._locks[collection]:
            key = await self._repo_key(workspace, collection, repo)
            async with self._leases.hold(key, workspace):
                before = await self._store.count(collection)
                rows = await self._manifest.rows(key)
                scanned = await GIT.run(scan, workspace, "", self.limits, rows)
                present = {file.path for file in scanned.files}
                stored = await path_counts(self._store, key)
                gone = sorted(path for path in {*stored, *rows} if path not in present)
                await Writer(self._store, self._embedder, self._manifest, key).remove(gone)
                return Pruned(before, await self._store.count(collection))

    async def drop(self, collection: str, repo: str | None = None) -> Pruned:
        """Remove a repo from a collection, or the whole collection; files on disk stay.

        Raises CollectionNotFound, or InvalidInput where it does not hold code or such a repo.
        """
        info = await self._store.collection_info(collection)
        if not holds_code(info):
            raise InvalidInput("collection", f"{collection!r} holds no code; it is kept by ctx")
        async with self._locks[collection]:
            every = await self.checkouts(collection)
            chosen = [each for each in every if repo in (None, each.repo)]
            if repo is not None and not chosen:
                raise InvalidInput("repo", f"{repo!r} is not indexed in {collection!r}")
            for checkout in chosen:
                if repo is not None:
                    await self._store.delete(collection, repo_filter(repo))
                await self._manifest.remove_repo(checkout.key)
                await GIT.run(self.states.remove, checkout.root, collection)
                self._problems.pop(checkout.key, None)
            if repo is None:
                await self._store.delete_collection(collection)
                return Pruned(info.points_count, 0)
            return Pruned(info.points_count, await self._store.count(collection))

    async def checkouts(self, collection: str) -> list[Checkout]:
        """Return the checkouts whose files a collection holds, by the name of their repo."""
        roots = await self._manifest.checkouts(self._store_key, collection)
        return [
            Checkout(RepoKey(self._store_key, collection, repo), root)
            for repo, root in roots.items()
        ]

    async def check(self, collection: str) -> list[str]:
        """Return what is wrong with the index of each repo; `problems` has it until it is indexed.

        An older copy of the store, or a damaged one, does not hold what the manifest lists.
        """
        async with self._locks[collection]:
            for checkout in await self.checkouts(collection):
                if stale := await self._stale_count(checkout):
                    self._problems[checkout.key] = _stale_problem(checkout, stale)
        return self.problems

    async def _stale_count(self, checkout: Checkout) -> int:
        """Count the files whose points are not those that the manifest lists."""
        rows = await self._manifest.rows(checkout.key)
        try:
            return len(await stale_paths(self._store, checkout.key, rows))
        except CollectionNotFound:
            return len(rows)

    @property
    def problems(self) -> list[str]:
        return list(self._problems.values())

    async def files(self, checkout: Checkout) -> dict[str, ManifestRow]:
        """Return the indexed files of a checkout by path."""
        return await self._manifest.rows(checkout.key)

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
        """Name the repo as given, else by git, unlike another repository of that name."""
        if repo is not None:
            return RepoKey(self._store_key, collection, repo)
        named = await GIT.run(repo_of, workspace)
        key = RepoKey(self._store_key, collection, named.name)
        if await self._manifest.claim_name(key, named.identity) != named.identity:
            return replace(key, repo=named.disambiguated_name())
        return key

    async def _update(self, run: IndexRun, key: RepoKey, recreate: bool) -> IndexReport:
        """Update a collection, or recreate it: on request, or as an earlier version built it."""
        if recreate and await self._exists(key.collection):
            return replace(await recreate_collection(run, key), recreated=True)
        if await self._is_outdated(run, key):
            whole = replace(run, subdir="")  # the rest of the repo is not in the new collection
            return replace(await recreate_collection(whole, key), recreated=True)
        await self._store.ensure_collection(key.collection, spec(self._embedder))
        return replace(await run.update(key), recreated=recreate)

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
