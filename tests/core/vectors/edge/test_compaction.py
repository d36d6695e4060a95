"""What deleted points took is given back, while the collection is in use."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import UUID

import pytest
import pytest_asyncio

from ctx_core.vectors.edge import compaction, flusher
from ctx_core.vectors.edge.named_collections import COLLECTIONS_FOLDER
from ctx_core.vectors.edge.store import EdgeStore
from ctx_core.vectors.points import Point, Sparse
from ctx_core.vectors.queries import Filter, HasId
from tests.support.vectors.samples import SPEC

NAME = "c"
FEW = 20  # deleted points that are many here
ROUNDS = 3


def point(number: int, text: str = "kept") -> Point:
    dense = [1.0 + number % 7, 2.0, 3.0, 4.0][: SPEC.dense["dense"]]
    sparse = Sparse([number % 5 + 1, 9], [1.0, 0.5])
    return Point(str(UUID(int=number)), {"dense": dense, "bm25": sparse}, {"text": text})


def ids(first: int, last: int) -> Filter:
    return Filter(must=[HasId([str(UUID(int=number)) for number in range(first, last)])])


@pytest_asyncio.fixture
async def store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EdgeStore]:
    monkeypatch.setattr(compaction, "MIN_DELETED", FEW)
    monkeypatch.setattr(flusher, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(flusher, "QUIET_SECONDS", 0.0)
    opened = await EdgeStore.open(folder)
    await opened.ensure_collection(NAME, SPEC)
    await opened.upsert(NAME, [point(number) for number in range(10)])
    yield opened
    await opened.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while True:
            if condition():
                return
            await asyncio.sleep(0.001)


async def replaced(store: EdgeStore, physical: str) -> str:
    """Wait until another collection stands behind the name; return it."""
    await until(lambda: store._collections.physical(NAME) != physical)
    return store._collections.physical(NAME)


def folders(folder: Path) -> list[str]:
    return [each.name for each in (folder / COLLECTIONS_FOLDER).iterdir()]


async def texts(store: EdgeStore) -> dict[int, str]:
    page, _ = await store.scroll(NAME, limit=1000)
    return {UUID(each.id).int: each.payload["text"] for each in page}


async def begin_copy(store: EdgeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the copy of a hundred points begin, slowly."""
    monkeypatch.setattr(compaction, "PAUSE_SECONDS", 0.05)
    await store.upsert(NAME, [point(number) for number in range(100)])
    store._collections.get(NAME).deleted = 1000
    # The points above may be flushed already; the flush of this one begins the copy.
    await store.upsert(NAME, [point(99)])
    await until(lambda: store._collections.get(NAME).copy is not None)


async def test_a_collection_is_copied_without_what_was_deleted(
    store: EdgeStore, folder: Path
) -> None:
    before, _ = await store.scroll(NAME, limit=100, vectors=["dense", "bm25"])
    for turn in range(ROUNDS):
        physical = await store.resolve(NAME)
        first = 100 * (turn + 1)
        await store.upsert(NAME, [point(number) for number in range(first, first + FEW)])
        await store.delete(NAME, ids(first, first + FEW))
        physical = await replaced(store, physical)
    after, _ = await store.scroll(NAME, limit=100, vectors=["dense", "bm25"])
    assert [(each.id, each.payload) for each in after] == [
        (each.id, each.payload) for each in before
    ]
    for old, new in zip(before, after, strict=True):
        assert new.vectors["bm25"] == old.vectors["bm25"]
        assert new.vectors["dense"] == pytest.approx(old.vectors["dense"], abs=1e-3)
    await until(lambda: folders(folder) == [physical])  # the old one is deleted in a thread
    assert store._collections.get(physical).deleted == 0


async def test_what_is_written_meanwhile_is_in_the_copy(
    store: EdgeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "PAUSE_SECONDS", 0.05)
    await store.upsert(NAME, [point(number) for number in range(200)])
    await store.delete(NAME, ids(100, 200))
    store._collections.get(NAME).deleted += 100  # as many as it has
    await until(lambda: store._collections.get(NAME).copy is not None)
    await store.delete(NAME, ids(0, 5))
    await store.delete(NAME, ids(90, 95))
    await store.upsert(NAME, [point(7, "new"), point(80, "new"), point(300, "new")])
    assert store._collections.get(NAME).copy is not None, "the copy ended before the writes"
    await replaced(store, NAME)
    found = await texts(store)
    expected = {*range(5, 90), *range(95, 100), 300}
    assert set(found) == expected
    assert {number for number, text in found.items() if text == "new"} == {7, 80, 300}


async def test_a_rebuild_that_begins_meanwhile_is_what_counts(
    store: EdgeStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin_copy(store, monkeypatch)
    built = await store.build(NAME, SPEC)
    await store.upsert(built, [point(1, "rebuilt")])
    await store.swap(NAME, built)
    await until(lambda: folders(folder) == [built])
    assert await texts(store) == {1: "rebuilt"}


async def test_a_store_that_is_closed_meanwhile_keeps_the_collection(
    store: EdgeStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin_copy(store, monkeypatch)
    await store.upsert(NAME, [point(200)])
    await store.close()
    again = await EdgeStore.open(folder)
    try:
        assert await again.resolve(NAME) == NAME
        assert set(await texts(again)) == {*range(100), 200}
        assert folders(folder) == [NAME]
        assert again._collections.get(NAME).deleted == 1000, "what was deleted before is known"
    finally:
        await again.close()


async def test_a_copy_that_fails_leaves_the_collection_as_it_is(
    store: EdgeStore, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "aliases.json").mkdir()  # it cannot be replaced
    store._collections.get(NAME).deleted = 1000
    await store.upsert(NAME, [point(50)])
    await until(lambda: "still has its deleted points" in caplog.text)
    assert set(await texts(store)) == {*range(10), 50}
    assert await store.resolve(NAME) == NAME
    assert not await store.rebuilding(NAME)
    (folder / "aliases.json").rmdir()
