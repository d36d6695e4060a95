"""Summarises conversations in the background; storing a message never waits for it."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from ctx_core.background import BackgroundTasks
from ctx_core.errors import CtxError
from ctx_memory.conversations.summaries.hierarchies import HierarchySummariser
from ctx_memory.conversations.summaries.summariser import ConversationSummariser
from ctx_memory.records.conversations.conversations import ConversationRecords, SummaryThresholds

log = logging.getLogger(__name__)

# Between looks at all conversations. A look finds conversations whose summary failed, that grew
# while the server was down, or that other processes wrote to.
SCAN_SECONDS = 300.0
RETRY_SECONDS = 60.0  # until the next look after a failure

AfterSummary = Callable[[str], Awaitable[None]]


class ConversationWorker:
    """Summarises conversations that grew, then the parents above them.

    `thresholds` is None where nothing is summarised automatically. `after_summary` runs after each
    automatic summary, `maintain` at every look at all conversations.
    """

    def __init__(
        self,
        records: ConversationRecords,
        summariser: ConversationSummariser,
        hierarchies: HierarchySummariser | None,
        thresholds: SummaryThresholds | None,
    ) -> None:
        self.after_summary: AfterSummary | None = None
        self.maintain: Callable[[], Awaitable[None]] | None = None
        self.failure: str | None = None
        self._records = records
        self._summariser = summariser
        self._hierarchies = hierarchies
        self._thresholds = thresholds
        self._wakeup = asyncio.Event()
        self._grown: dict[str, None] = {}
        self._moved: dict[str, None] = {}
        self._changed: dict[str, None] = {}
        self._next_scan = 0.0

    def conversation_grew(self, id_: str) -> None:
        """Have a conversation summarised."""
        self._grown[id_] = None
        self._wakeup.set()

    def hierarchy_changed(self, child: str) -> None:
        """Have the parents of a conversation summarised."""
        self._moved[child] = None
        self._wakeup.set()

    def summary_changed(self, id_: str) -> None:
        """Have similar contexts linked after a summary that a caller asked for."""
        self._changed[id_] = None
        self._wakeup.set()

    @contextlib.asynccontextmanager
    async def running(self, tasks: BackgroundTasks) -> AsyncIterator[None]:
        """Work in the background until the block ends."""
        async with tasks.run("summaries of conversations", self._work):
            yield

    async def _work(self) -> None:
        while True:
            self._wakeup.clear()
            self.failure = None
            if time.monotonic() >= self._next_scan:
                self._next_scan = time.monotonic() + SCAN_SECONDS
                await self._guarded(self._scan())
            for queue, work in self._queues():
                while queue:
                    id_ = next(iter(queue))
                    del queue[id_]
                    await self._guarded(work(id_))
            await self._pause()

    def _queues(self) -> list[tuple[dict[str, None], AfterSummary]]:
        return [
            (self._grown, self._summarise),
            (self._moved, self._update_above),
            (self._changed, self._follow_up),
        ]

    async def _pause(self) -> None:
        """Sleep until there is work, or it is time to look at all conversations."""
        if self.failure is not None:
            self._next_scan = min(self._next_scan, time.monotonic() + RETRY_SECONDS)
        with contextlib.suppress(TimeoutError):
            pause = max(0.0, self._next_scan - time.monotonic())
            async with asyncio.timeout(pause):
                await self._wakeup.wait()

    async def _scan(self) -> None:
        if self._thresholds is not None:
            self._grown.update(dict.fromkeys(await self._records.due(self._thresholds)))
        if self.maintain is not None:
            await self.maintain()

    async def _summarise(self, id_: str) -> None:
        if await self._summariser.summarise(id_) is None:
            return
        await self._update_above(id_)
        await self._follow_up(id_)

    async def _follow_up(self, id_: str) -> None:
        if self.after_summary is not None:
            await self.after_summary(id_)

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
