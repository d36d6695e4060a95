"""Flush collections of the embedded store in the background, when it is quiet."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence

from ctx_core.background import BackgroundTask
from ctx_core.blocking import DISK
from ctx_core.vectors.edge.collection import EdgeCollection

# A flush holds the interpreter for 10 to 30 ms of work and about 130 waits for the disk: 40 ms on
# an idle one, half a second on a busy one, for few changes as for many. So it waits until no call
# came for QUIET_SECONDS, but at most MAX_DELAY_SECONDS and MAX_CHANGES: unflushed changes are
# replayed after a crash, at 60 to 90 microseconds a change, and held in memory as the log's pages.
POLL_SECONDS = 0.5
QUIET_SECONDS = 5.0
MAX_DELAY_SECONDS = 300.0
MAX_CHANGES = 8_000


class Flusher:
    """One background task that flushes the open collections with unflushed changes.

    One that fails is tried again; `failure` says so meanwhile. `on_flushed` is called after one.
    """

    def __init__(
        self,
        open_collections: Callable[[], Collection[EdgeCollection]],
        on_flushed: Callable[[EdgeCollection], Awaitable[None]],
    ) -> None:
        self._open_collections = open_collections
        self._on_flushed = on_flushed
        self._task: asyncio.Task[None] | None = None
        self._last_call = 0.0
        self._background = BackgroundTask("the flush of vectors", self._flush_when_quiet)

    @property
    def failure(self) -> str | None:
        return self._background.failure

    def note_call(self) -> None:
        """Note a call of the store: the quiet time begins again."""
        self._last_call = time.monotonic()

    def start(self) -> None:
        """Start the task where it does not run."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._background.run())

    def stop(self) -> None:
        """Cancel the task."""
        if self._task is not None:
            self._task.cancel()

    async def _flush_when_quiet(self) -> None:
        deadline = time.monotonic() + MAX_DELAY_SECONDS
        while unflushed := [each for each in self._open_collections() if each.unflushed]:
            await asyncio.sleep(POLL_SECONDS)
            now = time.monotonic()
            changes = sum(each.unflushed for each in unflushed)
            is_quiet = now - self._last_call >= QUIET_SECONDS
            if is_quiet or now >= deadline or changes >= MAX_CHANGES:
                deadline = now + MAX_DELAY_SECONDS
                await self._flush(unflushed)

    async def _flush(self, collections: Sequence[EdgeCollection]) -> None:
        for collection in collections:
            await DISK.run(collection.write_back)
            if collection in self._open_collections():  # else it was deleted meanwhile
                collection.flush()
            await asyncio.sleep(0)
        for collection in collections:
            await self._on_flushed(collection)
