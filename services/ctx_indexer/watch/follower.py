"""Follows one checkout: waits for changes of its files, and brings them into the index."""

import asyncio
import contextlib
import logging
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from ctx_core.blocking import GIT
from ctx_core.confined_folder import ConfinedFolder
from ctx_core.errors import CtxError
from ctx_indexer.indexing.changes import Signatures
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.indexing.lease import Lease
from ctx_indexer.indexing.report import IndexReport
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.source.folders import list_folders, rule_places
from ctx_indexer.source.listing import list_files
from ctx_indexer.watch.folder_watches import EventSource, FolderWatches
from ctx_indexer.watch.pending import Changes, Pending, due_at, rest_seconds
from ctx_indexer.watch.status import Progress, State, Update, WorkspaceStatus

log = logging.getLogger(__name__)

# A check of all files finds changes without an event: excludes of the user, a network drive.
CHECK_SECONDS = 600.0
# Where folders cannot be watched, between two checks: so often that a check takes 2 % of a core.
POLL_SECONDS = 2.0
POLL_REST = 50.0
MOST_POLL_SECONDS = 60.0
FIRST_RETRY_SECONDS = 1.0  # after a failure, doubled each time
MOST_RETRY_SECONDS = 60.0
MISSING_SECONDS = 5.0  # between two looks for a folder that is gone
# A worktree that was removed and made again meanwhile is followed on; afterwards it is for whoever
# indexes it, so that worktrees of one task each do not add up.
FORGOTTEN_SECONDS = 60.0
KEPT = "the folder is gone or empty; the only checkout keeps its index"
FORGOTTEN = "the folder is gone, and its part of the index with it; another checkout has the repo"
MAX_FOLDERS = 50_000  # watched in one workspace; the kernel takes a kilobyte for each
MAX_IGNORED = 10_000  # paths remembered as ignored; then they are asked for again

Listener = Callable[[Update], None]


class Follower:
    """Follows one checkout until it is cancelled or forgotten. `status` tells how that goes."""

    def __init__(
        self,
        indexer: Indexer,
        checkout: Checkout,
        events: EventSource,
        *,
        on_update: Listener | None = None,
        max_folders: int = MAX_FOLDERS,
        shares: bool = False,
    ) -> None:
        """With `shares` the repo is kept only while something is written."""
        self.checkout = checkout
        self._indexer = indexer
        self._events = events
        self._on_update = on_update or (lambda _: None)
        self._max_folders = max_folders
        self._shares = shares
        self._progress = Progress()
        self._pending: Pending | None = None
        self._watches: FolderWatches | None = None
        self._skipped: Signatures = {}
        self._check_cost = 0.0
        self._resumes_at = 0.0
        self._is_complete = True
        self._forgotten_at = 0.0

    @property
    def status(self) -> WorkspaceStatus:
        waiting = len(self._pending) if self._pending else 0
        first = self._pending.first if self._pending else 0.0
        since = min(filter(None, (first, self._progress.behind_since)), default=0.0)
        return WorkspaceStatus(
            path=str(self.checkout.root),
            repo=self.checkout.repo,
            collection=self.checkout.key.collection,
            state=self._progress.state,
            pending=waiting,
            lag_seconds=round(time.monotonic() - since, 3) if since else 0.0,
            watched_folders=self._watches.watched if self._watches else 0,
            updates=self._progress.updates,
            failures=self._progress.failures,
            reason=self._progress.reason,
        )

    async def run(self) -> None:
        """Follow; after an error begin again, later each time, with a comparison of everything."""
        pause = FIRST_RETRY_SECONDS
        while not self._is_over():
            updates = self._progress.updates
            try:
                await self._follow()
                pause = FIRST_RETRY_SECONDS
                continue
            except CtxError as error:
                self._fail(error)
            if self._progress.updates > updates:
                pause = FIRST_RETRY_SECONDS
            await asyncio.sleep(pause)
            pause = min(MOST_RETRY_SECONDS, pause * 2)

    async def _follow(self) -> None:
        """Index the files that changed meanwhile, then follow until the folder goes away.

        Raises RepoInUse where another process writes the repo: it is asked for again later.
        """
        if not await GIT.run(_is_there, self.checkout.root):
            await self._wait_for_folder()
            return
        self._forgotten_at = 0.0
        self._pending = Pending()
        self._watches = self._events.open(self.checkout.root, self._pending)
        try:
            async with contextlib.nullcontext() if self._shares else self._keep():
                await self._start(self._pending)
                while not self._pending.is_lost:
                    await self._step(self._pending)
        finally:
            self._watches.close()

    async def _wait_for_folder(self) -> None:
        """Wait for a folder that is gone; it is forgotten where the repo has another checkout."""
        collection = self.checkout.key.collection
        await self._indexer.forget_gone(collection)
        roots = [each.root for each in await self._indexer.checkouts.of(collection)]
        is_kept = self.checkout.root in roots
        self._forgotten_at = 0.0 if is_kept else self._forgotten_at or time.monotonic()
        self._say("missing", KEPT if is_kept else FORGOTTEN)
        await asyncio.sleep(MISSING_SECONDS)

    def _is_over(self) -> bool:
        since = self._forgotten_at
        return since > 0 and time.monotonic() - since > FORGOTTEN_SECONDS

    def _keep(self) -> contextlib.AbstractAsyncContextManager[Lease]:
        """Keep the repo while it is followed: another process may have other files of it."""
        return self._indexer.hold(self.checkout)

    async def _start(self, pending: Pending) -> None:
        """Watch first, then index: changes in between are noticed."""
        await self._watch_all()
        changes = pending.take()
        began = time.monotonic()
        self._progress.behind_since = self._progress.behind_since or began
        key = self.checkout.key
        report = await self._indexer.index(
            self.checkout.root, collection=key.collection, repo=key.repo
        )
        self._note_update(report, changes.seen_at or began)

    async def _step(self, pending: Pending) -> None:
        """Wait for changes, or for the time of the next check, and apply them."""
        self._say_how()
        if await pending.wait(self._check_seconds()):
            await self._wait_for_quiet(pending)
            changes = pending.take()
        else:
            changes = Changes(everything=True)
        if pending.is_lost:
            return
        self._progress.behind_since = changes.seen_at
        try:
            await self._apply(changes)
        except BaseException:
            pending.restore(changes)
            raise
        self._progress.behind_since = 0.0

    async def _wait_for_quiet(self, pending: Pending) -> None:
        """Wait until changes pause, and until the rest after the last update is over."""
        while not pending.is_lost:
            due = max(due_at(pending.first, pending.last, len(pending)), self._resumes_at)
            if (left := due - time.monotonic()) <= 0:
                return
            await asyncio.sleep(left)

    async def _apply(self, changes: Changes) -> None:
        began = time.monotonic()
        paths = changes.paths | changes.folders
        if changes.everything:
            self._forget_ignored()
            await self._watch_all()
            paths |= await self._indexer.changed(self.checkout, self._skipped)
            self._check_cost = time.monotonic() - began
        elif changes.folders:
            await self._watch_folders(changes.folders)
        report = await self._indexer.update(self.checkout, paths) if paths else None
        has_changed = report is not None and bool(report.written or report.removed)
        if report is not None and has_changed:
            self._note_update(report, changes.seen_at)
        elif not changes.everything:
            await self._note_ignored(changes)
        now = time.monotonic()
        self._resumes_at = now + rest_seconds(now - began, changed=has_changed)

    async def _watch_all(self) -> None:
        """Watch every folder that is not ignored, and the rules that lie elsewhere."""
        assert self._watches is not None
        found = await GIT.run(list_folders, self.checkout.root, self._max_folders)
        self._is_complete = found.complete
        await GIT.run(self._watches.sync, found)
        places = await GIT.run(rule_places, self.checkout.root)
        await GIT.run(self._watches.watch_rules, places)

    async def _watch_folders(self, folders: frozenset[str]) -> None:
        """Watch folders that came, with those inside them."""
        assert self._watches is not None
        found = await GIT.run(list_folders, self.checkout.root, self._max_folders, folders)
        if self._watches.watched + len(found.paths) > self._max_folders:
            self._is_complete = False
            return
        await GIT.run(self._watches.add, found)

    async def _note_ignored(self, changes: Changes) -> None:
        """Remember which of the paths that changed nothing are ignored, until the rules change."""
        assert self._pending is not None
        ignored = await GIT.run(_ignored, self.checkout.root, changes.paths)
        if len(self._pending.ignored) + len(ignored) > MAX_IGNORED:
            self._forget_ignored()
        self._pending.ignored |= ignored

    def _forget_ignored(self) -> None:
        assert self._pending is not None
        self._pending.ignored = frozenset()

    def _check_seconds(self) -> float:
        if self._progress.state != "polling":
            return CHECK_SECONDS
        return min(MOST_POLL_SECONDS, max(POLL_SECONDS, self._check_cost * POLL_REST))

    def _say_how(self) -> None:
        assert self._watches is not None
        reason = self._watches.problem
        if not self._is_complete:
            reason = f"more than {self._max_folders:,} folders are not ignored"
        if reason:
            reason = f"{reason}; changes are looked for every {self._poll_text()}"
        self._say("polling" if reason else "following", reason)

    def _poll_text(self) -> str:
        return f"{min(MOST_POLL_SECONDS, max(POLL_SECONDS, self._check_cost * POLL_REST)):.0f} s"

    def _say(self, state: State, reason: str = "") -> None:
        """Keep the state, and log a change of it that somebody should know."""
        if state != self._progress.state and state in ("polling", "missing"):
            log.warning("%s is not followed by events: %s", self.checkout.root, reason)
        elif state != self._progress.state and self._progress.state in ("waiting", "polling"):
            log.warning("%s is followed again", self.checkout.root)
        self._progress.state, self._progress.reason = state, reason

    def _fail(self, error: CtxError) -> None:
        """Keep the reason; the first of several failures is logged."""
        self._progress.failures += 1
        if self._progress.state != "waiting":
            log.warning("%s is not followed at the moment: %s", self.checkout.root, error)
        self._progress.state, self._progress.reason = "waiting", error.message

    def _note_update(self, report: IndexReport, seen_at: float) -> None:
        self._progress.updates += 1
        self._progress.behind_since = 0.0
        if report.written or report.removed:
            self._on_update(Update(report, time.monotonic() - seen_at))


def _is_there(root: Path) -> bool:
    """Whether a folder holds anything; where a drive is not mounted, an empty one is left."""
    try:
        return any(root.iterdir())
    except OSError:
        return False


def _ignored(root: Path, paths: frozenset[str]) -> frozenset[str]:
    """Return the paths of regular files that exist and are not listed. Blocks."""
    listed = {os.fsdecode(raw) for raw in list_files(root, paths)}
    with ConfinedFolder(root) as folder:
        return frozenset(path for path in paths - listed if _is_file(folder, path))


def _is_file(folder: ConfinedFolder, path: str) -> bool:
    try:
        return stat.S_ISREG(folder.status(path).st_mode)
    except OSError:
        return False
