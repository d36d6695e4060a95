"""Tells the progress of an index run: to its listener, and in the workspace's state file."""

import contextlib
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from ctx_core.blocking import DISK
from ctx_indexer.indexing import workspace_state
from ctx_indexer.indexing.prepare import Prepared
from ctx_indexer.indexing.report import IndexReport, Listener, Progress, Stage, no_progress
from ctx_indexer.indexing.workspace_state import WorkspaceState, WorkspaceStates
from ctx_indexer.manifest.rows import RepoKey

LISTENER_SECONDS = 0.25  # between two calls of the listener within a stage
STATE_SECONDS = 2.0  # between two writes of the state file


class RunProgress:
    """The counts of a run under way. `report` must be set before the run ends."""

    def __init__(
        self,
        states: WorkspaceStates,
        workspace: Path,
        state: WorkspaceState,
        listener: Listener,
        *,
        writes_state: bool = True,
    ) -> None:
        self._states = states
        self._workspace = workspace
        self._listener = listener
        self._listened_at = 0.0
        self._written_at = 0.0 if writes_state else math.inf
        self._stage: Stage | None = None
        self.state = state
        self.files = self.chunks = 0
        self.redacted: Counter[str] = Counter()
        self.copied: Mapping[str, int] = {}
        self.report: IndexReport

    def count(self, batch: list[Prepared]) -> None:
        """Count the files, chunks and redacted secrets of a written batch."""
        self.files += len(batch)
        for each in batch:
            self.redacted.update(each.redacted)
        self.chunks += sum(len(each.points) for each in batch)

    async def tell(self, stage: Stage, done: int = 0, total: int = 0) -> None:
        """Tell the progress: a new stage at once, steps within a stage now and then."""
        now = time.monotonic()
        progress = Progress(stage, done, total, self.chunks + sum(self.copied.values()))
        if now - self._written_at >= STATE_SECONDS:
            self._written_at = now
            await self.write(workspace_state.with_progress(self.state, progress))
        if stage != self._stage or now - self._listened_at >= LISTENER_SECONDS:
            self._stage, self._listened_at = stage, now
            await self._listener(progress)

    async def write(self, state: WorkspaceState) -> None:
        """Write the state file off the event loop."""
        self.state = state
        await DISK.run(self._states.write, self._workspace, state)


@contextlib.asynccontextmanager
async def track_progress(
    states: WorkspaceStates, workspace: Path, key: RepoKey, listener: Listener
) -> AsyncIterator[RunProgress]:
    """Track a run: the state file says that it is in progress, then that it completed or failed."""
    state = await DISK.run(states.start, workspace, key.collection, key.repo)
    progress = RunProgress(states, workspace, state, listener)
    try:
        yield progress
    except BaseException:
        # Blocks for one small file: a cancelled run must not await anything more.
        states.write(workspace, workspace_state.failed(progress.state))
        raise
    await progress.write(workspace_state.completed(progress.state, progress.report))
    await progress.tell("done", progress.files, progress.files)


@contextlib.asynccontextmanager
async def track_update(
    states: WorkspaceStates, workspace: Path, key: RepoKey
) -> AsyncIterator[RunProgress]:
    """Track an update of a few files: the state file is written when it has changed something."""
    state = await DISK.run(states.start, workspace, key.collection, key.repo)
    progress = RunProgress(states, workspace, state, no_progress, writes_state=False)
    yield progress
    if progress.report.written or progress.report.removed or progress.report.shared:
        await progress.write(workspace_state.completed(state, progress.report))
