"""Entries read, counted and explained, on both databases."""

from datetime import UTC, datetime, timedelta

from ctx_memory.records.entry import Criteria, EntryKind, MetadataFilter, moment
from ctx_memory.records.store import Records
from tests.support.records import PNG, draft, texts


async def test_the_newest_come_first_page_by_page(records: Records) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    drafts = [draft(f"{n}", created_at=start + timedelta(days=n % 5)) for n in range(10)]
    await records.entries.add(drafts)
    everything = await texts(records)
    assert everything == ["9", "4", "8", "3", "7", "2", "6", "1", "5", "0"]
    pages = [
        await records.entries.select(Criteria(EntryKind.THREAD), 4, offset) for offset in (0, 4, 8)
    ]
    assert [entry.text for page in pages for entry in page] == everything
    since = moment(start + timedelta(days=3))
    assert await texts(records, since=since, until=since) == ["8", "3"]
    assert await records.entries.count(Criteria(EntryKind.THREAD, since=since)) == 4


async def test_entries_are_read_in_the_order_asked(records: Records) -> None:
    added = await records.entries.add([draft(f"{n}") for n in range(3)])
    ids = [entry_id for entry_id, _, _ in added]
    uuids = [uuid for _, uuid, _ in added]
    asked_ids = [ids[2], 999_999, ids[0], ids[2]]
    assert [entry.text for entry in await records.entries.get(asked_ids, EntryKind.THREAD)] == [
        "2",
        "0",
    ]
    assert await records.entries.get(ids, EntryKind.MEMORY) == []
    found = await records.entries.get_by_uuid(
        [uuids[1], "no such uuid", uuids[0]], EntryKind.THREAD
    )
    assert [entry.text for entry in found] == ["1", "0"]


async def test_criteria_select_among_given_entries(records: Records) -> None:
    drafts = [draft(f"{n}", metadata={"n": n}, source="user") for n in range(2500)]
    added = await records.entries.add(drafts)
    ids = [id_ for id_, _, _ in added]
    criteria = Criteria(EntryKind.THREAD, metadata=[MetadataFilter(["n"], "gte", 2000)])
    assert await records.entries.matching_ids([*ids, 999_999], criteria) == set(ids[2000:])
    assert await records.entries.identify(criteria, 3) == [
        added[2000][:2],
        added[2001][:2],
        added[2002][:2],
    ]


async def test_threads_and_statistics(records: Records) -> None:
    await records.entries.add(
        [draft("1", tags=["x"]), draft("2", source="agent", images=[PNG, PNG])]
    )
    await records.entries.add([draft("3", thread="u", tags=["x", "y"])])
    await records.entries.add([draft("memory", thread=None, kind=EntryKind.MEMORY, tags=["z"])])
    (latest, first), total = await records.counts.threads(EntryKind.THREAD)
    assert total == 2
    assert (latest.thread, first.thread) == ("u", "t")
    assert (first.entries, first.multimodal, first.sources) == (2, 1, {"agent": 1, "user": 1})
    assert first.first_at <= first.last_at < latest.last_at
    counted = await records.counts.statistics(EntryKind.THREAD)
    assert (counted.entries, counted.threads, counted.images, counted.tags) == (3, 2, 2, 2)
    assert counted.by_source == {"agent": 1, "user": 2}
    assert counted.by_content_type == {"multimodal": 1, "text": 2}
    assert counted.size_bytes > 0
    assert await records.counts.collections(EntryKind.THREAD) == {"threads": 3}
    empty = await records.counts.statistics(EntryKind.MESSAGE)
    assert (empty.entries, empty.summarised, empty.by_source) == (0, 0, {})


async def test_a_plan_names_the_index(records: Records) -> None:
    tagged = Criteria(EntryKind.THREAD, tags=["it's", "100%:x"], source="a \\ b")
    assert any("entry_tags_by_tag" in step for step in await records.entries.explain(tagged))
    nested = MetadataFilter(["a", "b"], "in", ["x", 1, None])
    assert await records.entries.explain(Criteria(EntryKind.THREAD, metadata=[nested]))


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
