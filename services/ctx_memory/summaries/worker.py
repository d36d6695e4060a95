"""Summarises long entries in the background; storing never waits for it."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from ctx_core.background import BackgroundTasks
from ctx_core.blocking import COMPUTE
from ctx_core.errors import CtxError, DecoderFailed
from ctx_core.llm.protocol import Decoder
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Entry, EntryKind
from ctx_memory.records.summaries import EntrySummaries
from ctx_memory.summaries.extractive import MAX_CHARACTERS, NAME, extract

log = logging.getLogger(__name__)

MIN_LENGTH = 300  # characters: a search shows as much of the text itself
BATCH = 100  # entries read at a time
# Between scans of all entries without a summary. A scan finds entries that failed, that were
# written while the server was down, or that other processes wrote.
SCAN_SECONDS = 300.0
RETRY_SECONDS = 60.0  # until the next scan after a failure
MAX_QUEUED = 10_000  # ids of written entries
MAX_FAILURES = 5  # in a row: then the decoder is at fault, not the text
CHARACTERS_PER_TOKEN = 4  # about, in English
PROMPT_TOKENS = 200  # of the instructions
MIN_CHARACTERS_PER_TOKEN = 3  # a cautious estimate, so that a prompt fits into the context
MIN_READ = 1_000  # characters of an entry, however small the context is
SYSTEM = "You summarise notes for another reader of the same project. You add nothing."
PROMPT = (
    "Summarise the note below. Keep names, numbers, decisions, causes and open questions; leave "
    "out politeness and repetition. Write plain sentences, no heading, no preamble.\n\n"
    "<note>\n{text}\n</note>"
)


@dataclass(frozen=True)
class SummaryRules:
    """Whether summaries are written, and the longest summary."""

    enabled: bool
    max_tokens: int
    context_tokens: int

    @property
    def max_read(self) -> int:
        """How many characters of a text fit into the decoder's context beside its summary."""
        tokens = self.context_tokens - self.max_tokens - PROMPT_TOKENS
        return max(MIN_READ, tokens * MIN_CHARACTERS_PER_TOKEN)


class SummaryWorker:
    """Summarises the entries of one kind: those just written, and at intervals those missed.

    `failure` is the last error since the last scan, or None.
    """

    def __init__(
        self,
        records: EntryRecords,
        summaries: EntrySummaries,
        kind: EntryKind,
        decoder: Decoder | None,
        rules: SummaryRules,
    ) -> None:
        self.rules = rules
        self.failure: str | None = None
        self._records = records
        self._summaries = summaries
        self._kind = kind
        self._decoder = decoder
        self._wakeup = asyncio.Event()
        self._queued: dict[int, None] = {}
        self._next_scan = 0.0
        self._failures_in_a_row = 0

    @property
    def provider(self) -> str:
        return NAME if self._decoder is None else "decoder"

    @property
    def model(self) -> str | None:
        return None if self._decoder is None else self._decoder.name

    def wake(self, ids: Sequence[int]) -> None:
        """Queue entries that were written. Where the queue is full, the next scan finds them."""
        if not self.rules.enabled:
            return
        if len(self._queued) < MAX_QUEUED:
            self._queued.update(dict.fromkeys(ids))
        else:
            self._next_scan = 0.0
        self._wakeup.set()

    @contextlib.asynccontextmanager
    async def running(self, tasks: BackgroundTasks) -> AsyncIterator[None]:
        """Work in the background until the block ends."""
        async with tasks.run("summaries of entries", self._work):
            yield

    async def catch_up(self) -> None:
        """Summarise every entry without a summary; the next scan retries a failed one."""
        self.failure, self._failures_in_a_row = None, 0
        after = 0
        while entries := await self._summaries.due(self._kind, MIN_LENGTH, BATCH, after):
            after = entries[-1].id
            if not await self._summarise(entries):
                return

    async def _work(self) -> None:
        while True:
            try:
                await self._summarise_queued()
                if time.monotonic() >= self._next_scan:
                    self._next_scan = time.monotonic() + SCAN_SECONDS
                    await self.catch_up()
            except Exception as error:  # noqa: BLE001 - the worker survives every error
                self._record_failure(error)
            if self.failure is not None:
                self._next_scan = min(self._next_scan, time.monotonic() + RETRY_SECONDS)
            with contextlib.suppress(TimeoutError):
                pause = max(0.0, self._next_scan - time.monotonic())
                async with asyncio.timeout(pause):
                    await self._wakeup.wait()

    async def _summarise_queued(self) -> None:
        self._wakeup.clear()
        while self._queued:
            ids = list(self._queued)[:BATCH]
            for id_ in ids:
                del self._queued[id_]
            entries = await self._records.get(ids, self._kind)
            if not await self._summarise([entry for entry in entries if self._needs(entry)]):
                self._queued.clear()  # the next scan finds them

    def _needs(self, entry: Entry) -> bool:
        return not entry.summary and len(entry.text) >= MIN_LENGTH

    async def _summarise(self, entries: Sequence[Entry]) -> bool:
        """Summarise entries; return False where the decoder failed too often to go on now."""
        if self._decoder is None:
            await self._extract(entries)
            return True
        for entry in entries:
            try:
                summary = await self._complete(self._decoder, entry.text)
            except CtxError as error:
                self._record_failure(error)
                if self._failures_in_a_row >= MAX_FAILURES:
                    return False
                continue
            self._failures_in_a_row = 0
            await self._summaries.save([(entry, summary)], self._decoder.name)
        return True

    async def _extract(self, entries: Sequence[Entry]) -> None:
        length = min(MAX_CHARACTERS, self.rules.max_tokens * CHARACTERS_PER_TOKEN)
        summaries = await COMPUTE.run(
            lambda: [(entry, extract(entry.text, length)) for entry in entries]
        )
        if summaries:
            await self._summaries.save(summaries, NAME)

    async def _complete(self, decoder: Decoder, text: str) -> str:
        prompt = PROMPT.format(text=text[: self.rules.max_read])
        summary = (await decoder.complete(prompt, self.rules.max_tokens, system=SYSTEM)).strip()
        if not summary:
            raise DecoderFailed(f"{decoder.name} answered nothing")
        return summary

    def _record_failure(self, error: Exception) -> None:
        self._failures_in_a_row += 1
        if isinstance(error, CtxError):
            self.failure = error.message
            log.warning("summaries wait for another attempt: %s", error)
        else:
            self.failure = "failed unexpectedly; the server's log has the details"
            log.error("summaries wait for another attempt", exc_info=error)
