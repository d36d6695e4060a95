"""Entries added, changed and removed, on both databases."""

import asyncio
import contextlib
import gc
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest

from ctx_core.errors import EntryNotFound, InvalidInput, StorageFailed
from ctx_memory.records.entry import Change, ContentType, Criteria, Draft, EntryKind
from ctx_memory.records.store import Records
from tests.support.records import PNG, draft, one, texts

# --- adding --------------------------------------------------------------------------------


async def test_an_entry_comes_back_as_it_was_given(records: Records) -> None:
    at = datetime(2024, 1, 15, 12, 30, tzinfo=UTC)
    metadata = {"a": {"b": [1, 2.5, None, True]}, "": "empty key", "ü": "🦊"}
    given = draft("text 🦊", metadata=metadata, tags=["b", "a", "b"], images=[PNG], created_at=at)
    [(entry_id, uuid, created)] = await records.entries.add([given])
    entry = await one(records, entry_id)
    assert created
    assert entry.uuid == uuid
    assert (entry.kind, entry.collection, entry.thread) == (EntryKind.THREAD, "threads", "t")
    assert (entry.text, entry.source, entry.metadata) == ("text 🦊", "user", metadata)
    assert entry.tags == ["a", "b"]
    assert entry.content_type is ContentType.MULTIMODAL
    assert entry.created_at == "2024-01-15T12:30:00.000000Z"
    assert entry.revision == 1
    assert await records.entries.images([entry_id]) == {entry_id: [replace(PNG, position=0)]}


async def test_ids_grow_and_are_never_given_twice(records: Records) -> None:
    first = await records.entries.add([draft(f"{number}") for number in range(5)])
    ids = [entry_id for entry_id, _, _ in first]
    assert ids == sorted(ids)
    await records.entries.remove(Criteria(EntryKind.THREAD))
    [(later, _, _)] = await records.entries.add([draft("after all were deleted")])
    assert later > max(ids)


async def test_what_repeats_the_latest_of_its_thread_updates_it(records: Records) -> None:
    [(first, uuid, _)] = await records.entries.add([draft("same", metadata={"a": 1}, tags=["x"])])
    again = await records.entries.add(
        [draft("same"), draft("same", metadata={"b": 2}, images=[PNG])]
    )
    assert again == [(first, uuid, False), (first, uuid, False)]
    entry = await one(records, first)
    assert (entry.metadata, entry.tags, entry.revision) == ({"b": 2}, ["x"], 3)
    assert entry.content_type is ContentType.MULTIMODAL
    assert entry.updated_at > entry.created_at


@pytest.mark.parametrize(
    "between",
    [draft("another"), draft("same", source="agent")],
    ids=["another text", "another author"],
)
async def test_what_has_something_between_is_new(records: Records, between: Draft) -> None:
    await records.entries.add([draft("same"), between])
    [(_, _, created)] = await records.entries.add([draft("same")])
    assert created


async def test_other_threads_and_kinds_do_not_come_between(records: Records) -> None:
    await records.entries.add(
        [draft("same"), draft("same", thread="u"), draft("same", kind=EntryKind.MESSAGE)]
    )
    assert [created for _, _, created in await records.entries.add([draft("same")])] == [False]
    memories = [draft("note", thread=None, kind=EntryKind.MEMORY) for _ in range(2)]
    assert [created for _, _, created in await records.entries.add(memories)] == [True, True]


async def test_repeats_at_the_same_time_make_one_entry(records: Records) -> None:
    answers = await asyncio.gather(*(records.entries.add([draft("same")]) for _ in range(20)))
    assert len({answer[0][0] for answer in answers}) == 1
    assert sum(answer[0][2] for answer in answers) == 1
    assert (await one(records, answers[0][0][0])).revision == 20


async def test_a_batch_is_stored_whole_or_not_at_all(records: Records) -> None:
    twice = "0b8f7c9e-0000-4000-8000-000000000000"
    with pytest.raises(StorageFailed):
        await records.entries.add([draft("one", uuid=twice), draft("two", uuid=twice)])
    with pytest.raises(InvalidInput):
        await records.entries.add([draft("one"), draft("two", metadata={"n": float("nan")})])
    assert await texts(records) == []
    assert await records.outbox.pending() == 0


# A call that is given up while it connects leaves its connection to the collector of garbage, which
# Python 3.13 warns of.
@pytest.mark.filterwarnings("ignore:.*unclosed database")
async def test_calls_that_are_given_up_leave_nothing_behind(records: Records) -> None:
    chance = Random(1)
    for number in range(40):
        call = asyncio.create_task(
            records.entries.add([draft(f"{number}"), draft(f"and {number}")])
        )
        await asyncio.sleep(chance.uniform(0, 0.008))
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
    async with asyncio.timeout(5):
        await records.entries.add([draft("after all")])
    stored = await texts(records)
    assert stored[0] == "after all"
    assert len(stored) % 2 == 1  # each pair is there as a whole, or not at all
    assert await records.outbox.pending() == len(stored)
    gc.collect()


# --- changing ------------------------------------------------------------------------------


async def test_only_what_is_given_changes(records: Records) -> None:
    added = draft("old", metadata={"a": {"b": 1, "c": 2}}, tags=["x"], images=[PNG])
    [(entry_id, _, _)] = await records.entries.add([added])
    before = await one(records, entry_id)
    answer = await records.entries.change([Change(entry_id, text="new")], EntryKind.THREAD)
    assert answer == [(entry_id, ["text_content"])]
    entry = await one(records, entry_id)
    assert (entry.text, entry.metadata, entry.tags) == ("new", before.metadata, ["x"])
    assert entry.content_hash != before.content_hash
    assert entry.created_at == before.created_at
    assert entry.updated_at > before.updated_at
    assert entry.revision == before.revision + 1


async def test_every_field_can_change_at_once(records: Records) -> None:
    [(entry_id, _, _)] = await records.entries.add([draft("old", metadata={"a": {"b": 1, "c": 2}})])
    patch = {"a": {"b": None, "d": 3}, "e": [1]}
    change = Change(entry_id, text="new", metadata_patch=patch, tags=["q"], images=[PNG])
    [(_, names)] = await records.entries.change([change], EntryKind.THREAD)
    assert names == ["text_content", "metadata", "tags", "images", "content_type"]
    entry = await one(records, entry_id)
    assert entry.metadata == {"a": {"c": 2, "d": 3}, "e": [1]}
    assert (entry.tags, entry.content_type) == (["q"], ContentType.MULTIMODAL)
    await records.entries.change(
        [Change(entry_id, metadata={"z": 1}, tags=[], images=[])], EntryKind.THREAD
    )
    entry = await one(records, entry_id)
    assert (entry.metadata, entry.tags) == ({"z": 1}, [])
    assert entry.content_type is ContentType.TEXT
    assert await records.entries.images([entry_id]) == {}


async def test_a_change_of_an_unknown_entry_changes_none(records: Records) -> None:
    [(known, _, _), (memory, _, _)] = await records.entries.add(
        [draft("old"), draft("memory", thread=None, kind=EntryKind.MEMORY)]
    )
    for unknown in (known + 1000, memory):
        with pytest.raises(EntryNotFound, match=str(unknown)):
            await records.entries.change(
                [Change(known, text="new"), Change(unknown)], EntryKind.THREAD
            )
    assert await texts(records) == ["old"]


async def test_changes_at_the_same_time_all_count(records: Records) -> None:
    [(entry_id, _, _)] = await records.entries.add([draft("text")])
    patches = [Change(entry_id, metadata_patch={f"k{n}": n}) for n in range(20)]
    await asyncio.gather(*(records.entries.change([patch], EntryKind.THREAD) for patch in patches))
    entry = await one(records, entry_id)
    assert entry.metadata == {f"k{n}": n for n in range(20)}
    assert entry.revision == 21


async def test_a_new_text_asks_for_a_new_summary(records: Records) -> None:
    [(entry_id, _, _)] = await records.entries.add([draft("a long text")])
    [waiting] = await records.summaries.due(EntryKind.THREAD, 5, 10)
    await records.summaries.save([(waiting, "short")], "extractive")
    assert await records.summaries.due(EntryKind.THREAD, 5, 10) == []
    entry = await one(records, entry_id)
    assert (entry.summary, entry.summary_by) == ("short", "extractive")
    assert (entry.updated_at, entry.revision) == (waiting.updated_at, waiting.revision)
    await records.entries.change([Change(entry_id, text="a longer text")], EntryKind.THREAD)
    await records.summaries.save([(waiting, "stale")], "extractive")
    assert [each.id for each in await records.summaries.due(EntryKind.THREAD, 5, 10)] == [entry_id]
    assert await records.summaries.due(EntryKind.THREAD, 5, 10, after=entry_id) == []
    assert await records.summaries.due(EntryKind.THREAD, 100, 10) == []


# --- removing ------------------------------------------------------------------------------


async def test_removing_takes_tags_and_images_along(records: Records) -> None:
    [(entry_id, _, _), _] = await records.entries.add(
        [draft("one", tags=["x"], images=[PNG]), draft("two", tags=["y"])]
    )
    assert await records.entries.remove(Criteria(EntryKind.THREAD, tags=["x"])) == 1
    assert await texts(records) == ["two"]
    assert await records.entries.images([entry_id]) == {}
    assert (await records.counts.statistics(EntryKind.THREAD)).tags == 1
    assert await records.entries.remove(Criteria(EntryKind.THREAD, ids=[entry_id])) == 0
