"""Summarises conversations in the background; storing a message never waits for it."""

import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from ctx_core.background import BackgroundTasks
from ctx_core.errors import CtxError
from ctx_memory.conversations.summaries.hierarchies import HierarchySummariser
from ctx_memory.conversations.summaries.queue import SummaryQueue
from ctx_memory.conversations.summaries.summariser import ConversationSummariser
from ctx_memory.conversations.upkeep import Upkeep
from ctx_memory.records.conversations.conversations import ConversationRecords, SummaryThresholds

log = logging.getLogger(__name__)

# Seconds between looks at all conversations. A look finds conversations whose summary failed, that
# grew while the server was down, or that other processes wrote to.
SCAN_SECONDS = 300.0
RETRY_SECONDS = 60.0  # from a failure to the next look

Work = Callable[[str], Awaitable[None]]


class ConversationWorker:
    """Summarises conversations that grew, then the parents above them, and links similar ones.

    `thresholds` is None where nothing is summarised automatically.
    """

    def __init__(
        self,
        records: ConversationRecords,
        queue: SummaryQueue,
        summariser: ConversationSummariser,
        hierarchies: HierarchySummariser | None,
        upkeep: Upkeep,
        thresholds: SummaryThresholds | None,
    ) -> None:
        self.failure: str | None = None
        self._records = records
        self._queue = queue
        self._summariser = summariser
        self._hierarchies = hierarchies
        self._upkeep = upkeep
        self._thresholds = thresholds
        self._next_scan = 0.0

    @contextlib.asynccontextmanager
    async def running(self, tasks: BackgroundTasks) -> AsyncIterator[None]:
        """Work in the background until the block ends."""
        async with tasks.run("summaries of conversations", self._work):
            yield

    async def _work(self) -> None:
        while True:
            self._queue.begin()
            self.failure = None
            if time.monotonic() >= self._next_scan:
                self._next_scan = time.monotonic() + SCAN_SECONDS
                await self._guarded(self._scan())
            for waiting, work in self._waiting():
                while waiting:
                    id_ = next(iter(waiting))
                    del waiting[id_]
                    await self._guarded(work(id_))
            await self._pause()

    async def _pause(self) -> None:
        """Wait until there is work, or it is time to look at all conversations."""
        if self.failure is not None:
            self._next_scan = min(self._next_scan, time.monotonic() + RETRY_SECONDS)
        await self._queue.pause(max(0.0, self._next_scan - time.monotonic()))

    def _waiting(self) -> list[tuple[dict[str, None], Work]]:
        return [
            (self._queue.grown, self._summarise),
            (self._queue.moved, self._update_above),
            (self._queue.changed, self._upkeep.after_summary),
        ]

    async def _scan(self) -> None:
        if self._thresholds is not None:
            self._queue.add_grown(await self._records.due(self._thresholds))
        await self._upkeep.maintain()

    async def _summarise(self, id_: str) -> None:
        if await self._summariser.summarise(id_) is None:
            return
        await self._update_above(id_)
        await self._upkeep.after_summary(id_)

    async def _update_above(self, id_: str) -> None:
        if self._hierarchies is not None:
            await self._hierarchies.update_above(id_)

    async def _guarded(self, work: Awaitable[None]) -> None:
        """Do the work; the worker survives every error."""
        try:
            await work
        except CtxError as error:
            self.failure = error.message
            log.warning("summaries of conversations wait for another attempt: %s", error)
        except Exception as error:
            self.failure = "failed unexpectedly; the server's log has the details"
            log.exception("summaries of conversations wait for another attempt", exc_info=error)
