"""Summaries: in the background, by a decoder or by extraction, and never in the way of storing."""

import asyncio
import time
from collections.abc import Callable

import pytest

from ctx_core.background import BackgroundTasks
from ctx_core.errors import DecoderFailed
from ctx_core.settings import Settings
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Entry, EntryKind
from ctx_memory.summaries import worker as worker_module
from ctx_memory.summaries.worker import SummaryRules, SummaryWorker
from ctx_memory.threads.requests import ChangeArgument, EntryArgument
from ctx_memory.threads.threads import Threads
from tests.support.threads import serving

LONG = "The release was delayed by the migration. " * 12
RULES = SummaryRules(enabled=True, max_tokens=100, context_tokens=1_000)


class Scribe:
    """A decoder that records its prompts, and fails on request."""

    name = "scribe-1"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failure: str | None = None
        self.refuses = "\0"
        self.calls = 0

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        assert max_tokens == RULES.max_tokens
        assert system
        self.calls += 1
        if self.failure or self.refuses in prompt:
            raise DecoderFailed(self.failure or "the context is too small")
        self.asked.append(prompt)
        return f"  Summary {len(self.asked)}.\n"

    async def close(self) -> None:
        pass


async def store(threads: Threads, text: str, thread: str = "t") -> int:
    argument = EntryArgument(thread_id=thread, source="user", text=text)
    return (await threads.entries.store(argument))["context_id"]


def worker_with(threads: Threads, decoder: Scribe) -> SummaryWorker:
    """A worker on the same entries with another decoder."""
    summaries = threads.summaries._summaries
    return SummaryWorker(threads.entries.records, summaries, EntryKind.THREAD, decoder, RULES)


async def read(records: EntryRecords, id_: int) -> Entry:
    [entry] = await records.get([id_], EntryKind.THREAD)
    return entry


async def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_long_texts_are_summarised_and_short_ones_are_not(threads: Threads) -> None:
    long, short = await store(threads, LONG), await store(threads, "short")
    records, scribe = threads.entries.records, Scribe()
    before = await read(records, long)
    await worker_with(threads, scribe).catch_up()
    after = await read(records, long)
    assert (after.summary, after.summary_by) == ("Summary 1.", "scribe-1")
    assert (after.updated_at, after.revision) == (before.updated_at, before.revision)
    assert (await read(records, short)).summary == ""
    [prompt] = scribe.asked
    assert LONG in prompt


async def test_a_text_is_cut_to_what_the_decoder_can_read(threads: Threads) -> None:
    await store(threads, LONG * 20)
    scribe = Scribe()
    await worker_with(threads, scribe).catch_up()
    [prompt] = scribe.asked
    assert LONG in prompt
    assert len(prompt) < 1_000 * 3


async def test_a_new_text_loses_its_old_summary(threads: Threads) -> None:
    id_ = await store(threads, LONG)
    records = threads.entries.records
    worker = worker_with(threads, Scribe())
    await worker.catch_up()
    await threads.entries.update(ChangeArgument(context_id=id_, tags=["kept"]))
    assert (await read(records, id_)).summary == "Summary 1."
    await threads.entries.update(ChangeArgument(context_id=id_, text=LONG + "And more."))
    assert (await read(records, id_)).summary == ""
    await worker.catch_up()
    assert (await read(records, id_)).summary == "Summary 2."


async def test_a_summary_of_an_older_text_is_thrown_away(threads: Threads) -> None:
    id_ = await store(threads, LONG)
    records = threads.entries.records

    class Slow(Scribe):
        async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
            if not self.asked:
                change = ChangeArgument(context_id=id_, text=LONG + "Changed meanwhile.")
                await threads.entries.update(change)
            return await super().complete(prompt, max_tokens, system)

    worker = worker_with(threads, Slow())
    await worker.catch_up()
    assert (await read(records, id_)).summary == ""
    await worker.catch_up()
    assert (await read(records, id_)).summary == "Summary 2."


async def test_a_decoder_that_fails_is_not_replaced_but_asked_again(threads: Threads) -> None:
    id_ = await store(threads, LONG)
    records, scribe = threads.entries.records, Scribe()
    scribe.failure = "connection refused"
    worker = worker_with(threads, scribe)
    await worker.catch_up()
    assert worker.failure == "connection refused"
    assert (await read(records, id_)).summary == ""
    scribe.failure = None
    await worker.catch_up()
    assert not worker.failure
    assert (await read(records, id_)).summary == "Summary 1."


async def test_one_entry_that_fails_does_not_hold_up_the_others(
    threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "BATCH", 2)
    scribe = Scribe()
    scribe.refuses = "poison"
    bad = [await store(threads, f"{LONG} poison {n}") for n in range(3)]
    good = [await store(threads, f"{LONG} fine {n}") for n in range(3)]
    records = threads.entries.records
    worker = worker_with(threads, scribe)
    await worker.catch_up()
    assert all([(await read(records, id_)).summary for id_ in good])
    assert not any([(await read(records, id_)).summary for id_ in bad])
    assert worker.failure == "the context is too small"


async def test_a_decoder_that_is_down_is_not_asked_for_every_entry(threads: Threads) -> None:
    for number in range(12):
        await store(threads, f"{LONG} {number}")
    scribe = Scribe()
    scribe.failure = "connection refused"
    await worker_with(threads, scribe).catch_up()
    assert scribe.calls == worker_module.MAX_FAILURES


async def test_the_background_worker_is_woken_by_storing(settings: Settings) -> None:
    on = settings.model_copy(update={"enable_summary_generation": True})
    async with serving(on) as (memory, _):
        threads = memory.threads
        await asyncio.sleep(0)
        id_ = await store(threads, LONG)
        deadline = time.monotonic() + 10
        while not (entry := await read(threads.entries.records, id_)).summary:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        assert entry.summary_by == "extractive"
        assert entry.summary == "The release was delayed by the migration."
        await store(threads, "too short")
        status = (await threads.statistics.all())["summary"]
    assert (status["summary_count"], status["waiting_count"]) == (1, 0)
    assert status["coverage_percentage"] == 100
    assert status["by"] == {"extractive": 1}
    assert (status["provider"], status["available"]) == ("extractive", True)


async def test_without_summaries_none_are_written_and_that_is_told(threads: Threads) -> None:
    id_ = await store(threads, LONG)
    status = (await threads.statistics.all())["summary"]
    assert (await read(threads.entries.records, id_)).summary == ""
    assert (status["enabled"], status["available"]) == (False, False)
    assert (status["summary_count"], status["waiting_count"]) == (0, 1)
    assert status["coverage_percentage"] == 0


async def test_storing_does_not_wait_for_a_summary(threads: Threads) -> None:
    class Never(Scribe):
        async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
            self.asked.append(prompt)
            await asyncio.sleep(3600)
            return ""

    scribe = Never()
    worker = worker_with(threads, scribe)
    async with worker.running(BackgroundTasks()):
        id_ = await store(threads, LONG)
        worker.wake([id_])
        await until(lambda: scribe.asked)
        async with asyncio.timeout(10):
            await store(threads, LONG + "another")
