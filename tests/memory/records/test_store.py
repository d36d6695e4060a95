"""The record store, on both databases."""

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from services.core.errors import EntryNotFound, InvalidInput, SettingsInvalid, StorageFailed
from services.memory.records.merge_patch import merged
from services.memory.records.store import Records
from services.memory.records.types import (
    Change,
    ContentType,
    Criteria,
    Draft,
    Entry,
    EntryKind,
    Image,
    MetadataFilter,
    moment,
)

PNG = Image("image/png", b"\x89PNG", {"alt": "a fox"})


def draft(text: str, thread: str | None = "t", source: str = "user", **fields: Any) -> Draft:
    kind = fields.pop("kind", EntryKind.THREAD)
    return Draft(kind, "threads", text, thread=thread, source=source, **fields)


async def one(records: Records, entry_id: int) -> Entry:
    [entry] = await records.get([entry_id], EntryKind.THREAD)
    return entry


async def texts(records: Records, **criteria: Any) -> list[str]:
    found = await records.select(Criteria(EntryKind.THREAD, **criteria), 100)
    return [entry.text for entry in found]


# --- adding --------------------------------------------------------------------------------


async def test_an_entry_comes_back_as_it_was_given(records: Records) -> None:
    at = datetime(2024, 1, 15, 12, 30, tzinfo=UTC)
    metadata = {"a": {"b": [1, 2.5, None, True]}, "": "empty key", "ü": "🦊"}
    given = draft("text 🦊", metadata=metadata, tags=["b", "a", "b"], images=[PNG], created_at=at)
    [(entry_id, uuid, created)] = await records.add([given])
    entry = await one(records, entry_id)
    assert created
    assert entry.uuid == uuid
    assert (entry.kind, entry.collection, entry.thread) == (EntryKind.THREAD, "threads", "t")
    assert (entry.text, entry.source, entry.metadata) == ("text 🦊", "user", metadata)
    assert entry.tags == ["a", "b"]
    assert entry.content_type is ContentType.MULTIMODAL
    assert entry.created_at == "2024-01-15T12:30:00.000000Z"
    assert entry.revision == 1
    assert await records.images([entry_id]) == {entry_id: [PNG]}


async def test_ids_grow_and_are_never_given_twice(records: Records) -> None:
    first = await records.add([draft(f"{number}") for number in range(5)])
    ids = [entry_id for entry_id, _, _ in first]
    assert ids == sorted(ids)
    await records.remove(Criteria(EntryKind.THREAD))
    [(later, _, _)] = await records.add([draft("after all were deleted")])
    assert later > max(ids)


async def test_what_repeats_the_latest_of_its_thread_updates_it(records: Records) -> None:
    [(first, uuid, _)] = await records.add([draft("same", metadata={"a": 1}, tags=["x"])])
    again = await records.add([draft("same"), draft("same", metadata={"b": 2}, images=[PNG])])
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
    await records.add([draft("same"), between])
    [(_, _, created)] = await records.add([draft("same")])
    assert created


async def test_other_threads_and_kinds_do_not_come_between(records: Records) -> None:
    await records.add(
        [draft("same"), draft("same", thread="u"), draft("same", kind=EntryKind.MESSAGE)]
    )
    assert [created for _, _, created in await records.add([draft("same")])] == [False]
    memories = [draft("note", thread=None, kind=EntryKind.MEMORY) for _ in range(2)]
    assert [created for _, _, created in await records.add(memories)] == [True, True]


async def test_repeats_at_the_same_time_make_one_entry(records: Records) -> None:
    answers = await asyncio.gather(*(records.add([draft("same")]) for _ in range(20)))
    assert len({answer[0][0] for answer in answers}) == 1
    assert sum(answer[0][2] for answer in answers) == 1
    assert (await one(records, answers[0][0][0])).revision == 20


async def test_a_batch_is_stored_whole_or_not_at_all(records: Records) -> None:
    twice = "0b8f7c9e-0000-4000-8000-000000000000"
    with pytest.raises(StorageFailed):
        await records.add([draft("one", uuid=twice), draft("two", uuid=twice)])
    with pytest.raises(InvalidInput):
        await records.add([draft("one"), draft("two", metadata={"n": float("nan")})])
    assert await texts(records) == []
    assert await records.pending() == 0


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("text", {"text": "half \ud800"}),
        ("metadata", {"metadata": {"half \udfff": 1}}),
        ("metadata", {"metadata": {"a": [float("inf")]}}),
        ("metadata", {"metadata": {"a": object()}}),
        ("metadata", {"metadata": {1: "a"}}),
        ("thread", {"thread": "t" * 257}),
        ("tag", {"tags": ["t" * 257]}),
    ],
)
async def test_what_cannot_be_kept_is_refused(
    records: Records, field: str, fields: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as raised:
        await records.add([draft(**({"text": "text"} | fields))])
    assert raised.value.details["field"] == field


async def test_nesting_has_an_end(records: Records) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested deeper"):
        await records.add([draft("deep", metadata={"a": deep})])


async def test_a_nul_is_kept_or_refused_but_never_cut(records: Records) -> None:
    if records.dialect == "postgresql":
        for given in (draft("a\x00b"), draft("ab", metadata={"k": "a\x00b"})):
            with pytest.raises(InvalidInput, match="NUL"):
                await records.add([given])
    else:
        [(entry_id, _, _)] = await records.add([draft("a\x00b", metadata={"k": "a\x00b"})])
        entry = await one(records, entry_id)
        assert (entry.text, entry.metadata) == ("a\x00b", {"k": "a\x00b"})


# --- changing ------------------------------------------------------------------------------


async def test_only_what_is_given_changes(records: Records) -> None:
    added = draft("old", metadata={"a": {"b": 1, "c": 2}}, tags=["x"], images=[PNG])
    [(entry_id, _, _)] = await records.add([added])
    before = await one(records, entry_id)
    answer = await records.change([Change(entry_id, text="new")], EntryKind.THREAD)
    assert answer == [(entry_id, ["text_content"])]
    entry = await one(records, entry_id)
    assert (entry.text, entry.metadata, entry.tags) == ("new", before.metadata, ["x"])
    assert entry.content_hash != before.content_hash
    assert entry.created_at == before.created_at
    assert entry.updated_at > before.updated_at
    assert entry.revision == before.revision + 1


async def test_every_field_can_change_at_once(records: Records) -> None:
    [(entry_id, _, _)] = await records.add([draft("old", metadata={"a": {"b": 1, "c": 2}})])
    patch = {"a": {"b": None, "d": 3}, "e": [1]}
    change = Change(entry_id, text="new", metadata_patch=patch, tags=["q"], images=[PNG])
    [(_, names)] = await records.change([change], EntryKind.THREAD)
    assert names == ["text_content", "metadata", "tags", "images"]
    entry = await one(records, entry_id)
    assert entry.metadata == {"a": {"c": 2, "d": 3}, "e": [1]}
    assert (entry.tags, entry.content_type) == (["q"], ContentType.MULTIMODAL)
    await records.change(
        [Change(entry_id, metadata={"z": 1}, tags=[], images=[])], EntryKind.THREAD
    )
    entry = await one(records, entry_id)
    assert (entry.metadata, entry.tags) == ({"z": 1}, [])
    assert entry.content_type is ContentType.TEXT
    assert await records.images([entry_id]) == {}


async def test_a_change_of_an_unknown_entry_changes_none(records: Records) -> None:
    [(known, _, _), (memory, _, _)] = await records.add(
        [draft("old"), draft("memory", thread=None, kind=EntryKind.MEMORY)]
    )
    for unknown in (known + 1000, memory):
        with pytest.raises(EntryNotFound, match=str(unknown)):
            await records.change([Change(known, text="new"), Change(unknown)], EntryKind.THREAD)
    assert await texts(records) == ["old"]


async def test_changes_at_the_same_time_all_count(records: Records) -> None:
    [(entry_id, _, _)] = await records.add([draft("text")])
    patches = [Change(entry_id, metadata_patch={f"k{n}": n}) for n in range(20)]
    await asyncio.gather(*(records.change([patch], EntryKind.THREAD) for patch in patches))
    entry = await one(records, entry_id)
    assert entry.metadata == {f"k{n}": n for n in range(20)}
    assert entry.revision == 21


async def test_a_new_text_asks_for_a_new_summary(records: Records) -> None:
    [(entry_id, _, _)] = await records.add([draft("a long text")])
    [waiting] = await records.unsummarised(EntryKind.THREAD, 5, 10)
    await records.set_summaries([(waiting, "short")], "extractive")
    assert await records.unsummarised(EntryKind.THREAD, 5, 10) == []
    entry = await one(records, entry_id)
    assert (entry.summary, entry.summary_by) == ("short", "extractive")
    assert (entry.updated_at, entry.revision) == (waiting.updated_at, waiting.revision)
    await records.change([Change(entry_id, text="a longer text")], EntryKind.THREAD)
    await records.set_summaries([(waiting, "stale")], "extractive")
    assert [each.id for each in await records.unsummarised(EntryKind.THREAD, 5, 10)] == [entry_id]
    assert await records.unsummarised(EntryKind.THREAD, 5, 10, after=entry_id) == []
    assert await records.unsummarised(EntryKind.THREAD, 100, 10) == []


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [  # the examples of RFC 7396, appendix A
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch(target: Any, patch: Any, expected: Any) -> None:
    assert merged(target, patch) == expected


# --- removing and reading ------------------------------------------------------------------


async def test_removing_takes_tags_and_images_along(records: Records) -> None:
    [(entry_id, _, _), _] = await records.add(
        [draft("one", tags=["x"], images=[PNG]), draft("two", tags=["y"])]
    )
    assert await records.remove(Criteria(EntryKind.THREAD, tags=["x"])) == 1
    assert await texts(records) == ["two"]
    assert await records.images([entry_id]) == {}
    assert (await records.statistics(EntryKind.THREAD)).tags == 1
    assert await records.remove(Criteria(EntryKind.THREAD, ids=[entry_id])) == 0


async def test_the_newest_come_first_page_by_page(records: Records) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    drafts = [draft(f"{n}", created_at=start + timedelta(days=n % 5)) for n in range(10)]
    await records.add(drafts)
    everything = await texts(records)
    assert everything == ["9", "4", "8", "3", "7", "2", "6", "1", "5", "0"]
    pages = [await records.select(Criteria(EntryKind.THREAD), 4, offset) for offset in (0, 4, 8)]
    assert [entry.text for page in pages for entry in page] == everything
    since = moment(start + timedelta(days=3))
    assert await texts(records, since=since, until=since) == ["8", "3"]
    assert await records.count(Criteria(EntryKind.THREAD, since=since)) == 4


async def test_entries_are_read_in_the_order_asked(records: Records) -> None:
    added = await records.add([draft(f"{n}") for n in range(3)])
    ids = [entry_id for entry_id, _, _ in added]
    uuids = [uuid for _, uuid, _ in added]
    wanted = [ids[2], 999_999, ids[0], ids[2]]
    assert [entry.text for entry in await records.get(wanted, EntryKind.THREAD)] == ["2", "0"]
    assert await records.get(ids, EntryKind.MEMORY) == []
    found = await records.get_by_uuid([uuids[1], "no such uuid", uuids[0]], EntryKind.THREAD)
    assert [entry.text for entry in found] == ["1", "0"]


async def test_criteria_admit_among_given_entries(records: Records) -> None:
    drafts = [draft(f"{n}", metadata={"n": n}, source="user") for n in range(2500)]
    added = await records.add(drafts)
    ids = [id_ for id_, _, _ in added]
    wanted = Criteria(EntryKind.THREAD, metadata=[MetadataFilter(["n"], "gte", 2000)])
    assert await records.matching_ids([*ids, 999_999], wanted) == set(ids[2000:])
    assert await records.identify(wanted, 3) == [added[2000][:2], added[2001][:2], added[2002][:2]]


async def test_threads_and_statistics(records: Records) -> None:
    await records.add([draft("1", tags=["x"]), draft("2", source="agent", images=[PNG, PNG])])
    await records.add([draft("3", thread="u", tags=["x", "y"])])
    await records.add([draft("memory", thread=None, kind=EntryKind.MEMORY, tags=["z"])])
    latest, first = await records.thread_list()
    assert (latest.thread, first.thread) == ("u", "t")
    assert (first.entries, first.multimodal, first.sources) == (2, 1, {"agent": 1, "user": 1})
    assert first.first_at <= first.last_at < latest.last_at
    counted = await records.statistics(EntryKind.THREAD)
    assert (counted.entries, counted.threads, counted.images, counted.tags) == (3, 2, 2, 2)
    assert counted.by_source == {"agent": 1, "user": 2}
    assert counted.by_content_type == {"multimodal": 1, "text": 2}
    assert counted.size_bytes > 0
    assert await records.collection_counts(EntryKind.THREAD) == {"threads": 3}
    empty = await records.statistics(EntryKind.MESSAGE)
    assert (empty.entries, empty.summarised, empty.by_source) == (0, 0, {})


async def test_a_plan_names_the_index(records: Records) -> None:
    tagged = Criteria(EntryKind.THREAD, tags=["it's", "100%:x"], source="a \\ b")
    assert any("entry_tags_by_tag" in step for step in await records.explain(tagged))
    nested = MetadataFilter(["a", "b"], "in", ["x", 1, None])
    assert await records.explain(Criteria(EntryKind.THREAD, metadata=[nested]))


# --- the database itself -------------------------------------------------------------------


async def test_calls_that_are_given_up_leave_nothing_behind(records: Records) -> None:
    chance = Random(1)
    for number in range(40):
        call = asyncio.create_task(records.add([draft(f"{number}"), draft(f"and {number}")]))
        await asyncio.sleep(chance.uniform(0, 0.008))
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
    async with asyncio.timeout(5):
        await records.add([draft("after all")])
    stored = await texts(records)
    assert stored[0] == "after all"
    assert len(stored) % 2 == 1  # each pair is there as a whole, or not at all
    assert await records.pending() == len(stored)


@pytest.mark.parametrize(
    "url", ["mysql://host/name", "sqlite://", "sqlite:///:memory:", "nonsense"]
)
async def test_another_database_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="DATABASE_URL"):
        await Records.open(url)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("postgresql://someone:secret@127.0.0.1:9/records", "127.0.0.1"),
        ("postgresql://someone:secret@no-such-host.invalid/records", "no-such-host"),
    ],
)
async def test_a_database_that_does_not_answer_is_named_without_its_password(
    broken: str, said: str
) -> None:
    with pytest.raises(StorageFailed) as raised:
        await Records.open(broken)
    assert said in str(raised.value)
    assert "secret" not in str(raised.value)


async def test_usual_ways_to_write_a_url(postgres_url: str) -> None:
    written = postgres_url.replace("postgresql://", "postgres://") + "&sslmode=disable"
    records = await Records.open(written)
    await records.ping()
    await records.close()


async def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for place in (f"{__file__}/records.sqlite", str(tmp_path)):
        with pytest.raises(StorageFailed, match=f"{place} cannot be written.* CTX_DATA_DIR"):
            await Records.open(f"sqlite:///{place}")


async def test_a_database_that_is_not_there_is_named(postgres_url: str) -> None:
    with pytest.raises(StorageFailed, match="does not exist"):
        await Records.open(postgres_url.replace("/ctx_", "/no_ctx_"))


async def test_the_driver_of_postgresql_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "asyncpg", None)
    with pytest.raises(SettingsInvalid, match=r"pip install 'ctx-engine\[postgres\]'"):
        await Records.open("postgresql://127.0.0.1/records")


def test_moments_are_of_one_length_in_utc() -> None:
    times = [
        datetime(1, 1, 1),  # naive means UTC
        datetime.fromisoformat("2024-01-15T12:30:00+02:00"),
        datetime.fromisoformat("2024-01-15T10:30:00.5+00:00"),
    ]
    assert [moment(each) for each in times] == [
        "0001-01-01T00:00:00.000000Z",
        "2024-01-15T10:30:00.000000Z",
        "2024-01-15T10:30:00.500000Z",
    ]
