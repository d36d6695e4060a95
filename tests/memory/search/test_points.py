"""The points of entries in Qdrant: every chunk, of the current text only."""

from uuid import UUID

import pytest

from ctx_core.engine.engine import Engine
from ctx_core.vectors.points import Record
from ctx_memory.records.entry import EntryKind
from ctx_memory.search.points import EntryProjection, point_id
from ctx_memory.search.splitter import TextSplitter
from ctx_memory.threads.requests import ChangeArgument, EntryArgument
from ctx_memory.threads.threads import Threads

COLLECTION = "threads"
PROJECTION = EntryProjection(EntryKind.THREAD, TextSplitter(400, 40))
LONG = " ".join(
    f"Sentence number {n} tells something about the year {1900 + n}." for n in range(240)
)


def entry(text: str, **more: object) -> EntryArgument:
    return EntryArgument.model_validate({"thread_id": "t", "source": "user", "text": text} | more)


async def points(engine: Engine) -> list[Record]:
    found, _ = await engine.vectors.scroll(COLLECTION, limit=1000)
    return sorted(found, key=lambda record: record.payload["chunk"])


async def test_a_long_text_is_many_points_with_everything_to_filter_by(
    threads: Threads, engine: Engine
) -> None:
    id_ = (await threads.entries.store(entry(LONG, tags=["B", "a"])))["context_id"]
    [stored] = await threads.entries.records.get([id_], EntryKind.THREAD)
    found = await points(engine)
    assert len(found) > 8
    assert [record.payload["chunk"] for record in found] == list(range(len(found)))
    for number, record in enumerate(found):
        assert record.id == point_id(stored.uuid, number)
        assert record.payload["entry_uuid"] == stored.uuid
        assert record.payload["thread"] == "t"
        assert record.payload["source"] == "user"
        assert record.payload["content_type"] == "text"
        assert sorted(record.payload["tags"]) == ["a", "b"]
        assert record.payload["created_at"] == stored.created_at


async def test_a_shorter_text_leaves_no_older_chunks(threads: Threads, engine: Engine) -> None:
    id_ = (await threads.entries.store(entry(LONG)))["context_id"]
    await threads.entries.update(ChangeArgument(context_id=id_, text="short now"))
    [record] = await points(engine)
    assert record.payload["chunk"] == 0


async def test_changed_tags_reach_every_chunk(threads: Threads, engine: Engine) -> None:
    id_ = (await threads.entries.store(entry(LONG, tags=["before"])))["context_id"]
    await threads.entries.update(ChangeArgument(context_id=id_, tags=["after"]))
    assert {tuple(record.payload["tags"]) for record in await points(engine)} == {("after",)}


async def test_deleting_an_entry_deletes_its_chunks(threads: Threads, engine: Engine) -> None:
    first = (await threads.entries.store(entry(LONG)))["context_id"]
    await threads.entries.store(entry("another"))
    await threads.entries.delete([first], None)
    [record] = await points(engine)
    assert record.payload["point_count"] == 1
    await threads.entries.delete(None, "t")
    assert await points(engine) == []


@pytest.mark.parametrize("number", [0, 1, 999])
def test_a_chunk_always_has_the_same_id(number: int) -> None:
    uuid = "7b0c2c52-5b4c-4c1c-9f5e-0f1b2f3d4e5f"
    assert point_id(uuid, number) == point_id(uuid, number) != point_id(uuid, number + 1)
    assert UUID(point_id(uuid, number)).version == 5
