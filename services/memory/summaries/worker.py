"""Summarises long entries in the background; storing never waits for it."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from services.core.background import beside
from services.core.errors import CtxError, DecoderFailed
from services.core.llm.protocol import Decoder
from services.memory.records.store import Records
from services.memory.records.types import Entry, EntryKind
from services.memory.summaries.extractive import MOST_CHARACTERS, NAME, extract

log = logging.getLogger(__name__)

BATCH = 100  # entries read at a time
# How often everything is looked through: for what failed, what was written while the server was
# down, and what other processes wrote. It reads every entry that has no summary.
LOOK_SECONDS = 300.0
RETRY_SECONDS = 60.0  # until the next look where something failed
MOST_REMEMBERED = 10_000  # ids of written entries
MOST_FAILURES = 5  # one after another: then it is the decoder that is at fault, not the text
CHARACTERS_A_TOKEN = 4  # about, in English
PROMPT_TOKENS = 200  # what the instructions take
CAUTIOUS_CHARACTERS_A_TOKEN = 3  # where more must not be asked than fits
LEAST_READ = 1_000  # characters of an entry, however small the context is
SYSTEM = "You summarise notes for another reader of the same project. You add nothing."
PROMPT = (
    "Summarise the note below. Keep names, numbers, decisions, causes and open questions; leave "
    "out politeness and repetition. Write plain sentences, no heading, no preamble.\n\n"
    "<note>\n{text}\n</note>"
)


@dataclass(frozen=True)
class Rules:
    """Whether and what is summarised, and how long a summary may be."""

    enabled: bool
    min_length: int
    max_tokens: int
    context_tokens: int

    @property
    def read_characters(self) -> int:
        """So much of a text fits into the decoder's context beside its answer."""
        left = self.context_tokens - self.max_tokens - PROMPT_TOKENS
        return max(LEAST_READ, left * CAUTIOUS_CHARACTERS_A_TOKEN)


class Summaries:
    """Summarises what was just written, and at times looks for what was missed.

    `failure` is what went wrong since the last look.
    """

    def __init__(self, records: Records, decoder: Decoder | None, rules: Rules) -> None:
        self._records = records
        self._decoder = decoder
        self.rules = rules
        self._news = asyncio.Event()
        self._written: dict[int, None] = {}
        self._next_look = 0.0
        self._failures = 0  # one after another
        self.failure: str | None = None

    @property
    def provider(self) -> str:
        return NAME if self._decoder is None else "decoder"

    @property
    def model(self) -> str | None:
        return None if self._decoder is None else self._decoder.name

    def wake(self, ids: Sequence[int]) -> None:
        """These entries were written. More than can be remembered are found by looking."""
        if not self.rules.enabled:
            return
        if len(self._written) < MOST_REMEMBERED:
            self._written.update(dict.fromkeys(ids))
        else:
            self._next_look = 0.0
        self._news.set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with beside(self._work()):
            yield

    async def catch_up(self) -> None:
        """Look through everything that has no summary; what fails is left for the next look."""
        self.failure, self._failures = None, 0
        after = 0
        while entries := await self._records.unsummarised(
            EntryKind.THREAD, self.rules.min_length, BATCH, after
        ):
            after = entries[-1].id
            if not await self._summarise(entries):
                return

    async def _work(self) -> None:
        while True:
            try:
                await self._summarise_written()
                if time.monotonic() >= self._next_look:
                    self._next_look = time.monotonic() + LOOK_SECONDS
                    await self.catch_up()
            except Exception as error:  # noqa: BLE001 - the worker outlives whatever happens
                self._failed(error)
            if self.failure is not None:
                self._next_look = min(self._next_look, time.monotonic() + RETRY_SECONDS)
            with contextlib.suppress(TimeoutError):
                pause = max(0.0, self._next_look - time.monotonic())
                await asyncio.wait_for(self._news.wait(), pause)

    async def _summarise_written(self) -> None:
        self._news.clear()
        while self._written:
            ids = list(self._written)[:BATCH]
            for id_ in ids:
                del self._written[id_]
            entries = await self._records.get(ids, EntryKind.THREAD)
            if not await self._summarise([entry for entry in entries if self._wants(entry)]):
                self._written.clear()  # the next look finds them

    def _wants(self, entry: Entry) -> bool:
        return not entry.summary and len(entry.text) >= self.rules.min_length

    async def _summarise(self, entries: Sequence[Entry]) -> bool:
        """False when so much failed that it is no use to go on now."""
        if self._decoder is None:
            most = min(MOST_CHARACTERS, self.rules.max_tokens * CHARACTERS_A_TOKEN)
            written = await asyncio.to_thread(
                lambda: [(entry, extract(entry.text, most)) for entry in entries]
            )
            if written:
                await self._records.set_summaries(written, NAME)
            return True
        for entry in entries:
            try:
                summary = await self._complete(self._decoder, entry.text)
            except CtxError as error:
                self._failed(error)
                if self._failures >= MOST_FAILURES:
                    return False
                continue
            self._failures = 0
            await self._records.set_summaries([(entry, summary)], self._decoder.name)
        return True

    async def _complete(self, decoder: Decoder, text: str) -> str:
        prompt = PROMPT.format(text=text[: self.rules.read_characters])
        summary = (await decoder.complete(prompt, self.rules.max_tokens, system=SYSTEM)).strip()
        if not summary:
            raise DecoderFailed(f"{decoder.name} answered nothing")
        return summary

    def _failed(self, error: Exception) -> None:
        self._failures += 1
        if isinstance(error, CtxError):
            self.failure = error.message
            log.warning("summaries wait for another attempt: %s", error)
        else:
            self.failure = "failed unexpectedly; the server's log has the details"
            log.error("summaries wait for another attempt", exc_info=error)
