"""VectorStore on both engines: replacements, and the swap."""

import asyncio
from dataclasses import replace

import pytest

from ctx_core.errors import CollectionNotFound, InvalidInput
from ctx_core.vectors.points import Sparse
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Query
from ctx_core.vectors.specs import EmbeddingModel
from tests.support.vectors.samples import POINTS, SPEC, numbers, one_query, point

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHER = replace(SPEC, dense={"dense": 3}, model=EmbeddingModel("other", 3))
WIDE = [point(number, dense=[1.0, 0.0, float(number)]) for number in (7, 8)]


async def listed(store: VectorStore, name: str) -> list[str]:
    """The listed collections of this name."""
    return [info.name for info in await store.list_collections() if info.name.startswith(name)]


async def filled(store: VectorStore, name: str) -> None:
    await store.ensure_collection(name, SPEC)
    await store.upsert(name, POINTS)


async def test_a_replacement_is_not_listed_until_it_is_swapped_in(
    store: VectorStore, fresh: str
) -> None:
    await filled(store, fresh)
    assert await store.resolve(fresh) == fresh
    assert not await store.rebuilding(fresh)
    built = await store.build(fresh, OTHER)
    assert await store.rebuilding(fresh)
    await store.upsert(built, WIDE)
    assert await listed(store, fresh) == [fresh]
    assert (await store.collection_info(fresh)).spec == SPEC
    assert await store.count(fresh) == 4

    await store.swap(fresh, built)
    assert await store.resolve(fresh) == built
    assert not await store.rebuilding(fresh)
    assert await listed(store, fresh) == [fresh]
    info = await store.collection_info(fresh)
    assert (info.name, info.spec, info.points_count) == (fresh, OTHER, 2)
    await store.ensure_collection(fresh, OTHER)
    hits = await one_query(store, fresh, Query("dense", [1.0, 0.0, 7.0], 1))
    assert numbers(hits) == [7]


async def test_a_second_swap_follows_the_first(store: VectorStore, fresh: str) -> None:
    await filled(store, fresh)
    first = await store.build(fresh, OTHER)
    await store.swap(fresh, first)
    second = await store.build(fresh, SPEC)
    await store.upsert(second, POINTS[:1])
    await store.swap(fresh, second)
    assert await store.count(fresh) == 1
    assert await listed(store, fresh) == [fresh]
    with pytest.raises(CollectionNotFound):
        await store.count(first)


async def test_a_replacement_of_a_collection_that_does_not_exist(
    store: VectorStore, fresh: str
) -> None:
    built = await store.build(fresh, SPEC)
    with pytest.raises(CollectionNotFound):
        await store.count(fresh)
    await store.swap(fresh, built)
    assert await store.count(fresh) == 0


async def test_deleting_a_name_deletes_its_physical_collection(
    store: VectorStore, fresh: str
) -> None:
    await filled(store, fresh)
    built = await store.build(fresh, OTHER)
    await store.swap(fresh, built)
    assert await store.delete_collection(fresh)
    assert await listed(store, fresh) == []
    for name in (fresh, built):
        with pytest.raises(CollectionNotFound):
            await store.count(name)
    await filled(store, fresh)
    assert await store.resolve(fresh) == fresh
    assert await store.count(fresh) == 4


async def test_a_build_can_be_dropped_and_started_again(store: VectorStore, fresh: str) -> None:
    await filled(store, fresh)
    given_up = await store.build(fresh, OTHER)
    assert await store.delete_collection(given_up)
    assert not await store.rebuilding(fresh)
    forgotten = await store.build(fresh, OTHER)
    again = await store.build(fresh, OTHER)
    with pytest.raises(CollectionNotFound):
        await store.upsert(forgotten, WIDE)
    await store.delete_collection(again)
    assert await store.count(fresh) == 4


async def test_the_mark_of_a_generation_is_refused_in_names(store: VectorStore) -> None:
    for attempt in (store.ensure_collection, store.build):
        with pytest.raises(InvalidInput, match="cannot name a collection"):
            await attempt("name@0a1b2c3d", SPEC)


async def test_names_with_the_same_prefix_are_independent(store: VectorStore, fresh: str) -> None:
    """A build for a name does not touch a name that begins with it."""
    longer = f"{fresh}-longer"
    await filled(store, longer)
    built = await store.build(fresh, OTHER)
    await store.swap(fresh, built)
    assert await store.count(longer) == 4
    assert not await store.rebuilding(longer)
    await store.delete_collection(longer)


async def test_readers_find_points_at_every_moment_of_a_swap(
    store: VectorStore, fresh: str
) -> None:
    await filled(store, fresh)
    done = asyncio.Event()
    counted: list[int] = []

    async def read() -> None:
        while not done.is_set():
            try:
                counted.append(await store.count(fresh))
            except CollectionNotFound:  # replaced during the request: the next one exists
                counted.append(await store.count(fresh))
            await asyncio.sleep(0)

    reading = asyncio.create_task(read())
    for _ in range(3):
        built = await store.build(fresh, SPEC)
        await store.upsert(built, POINTS)
        await store.swap(fresh, built)
    done.set()
    await reading
    assert set(counted) == {4}


async def test_records_have_the_requested_vectors(store: VectorStore, fresh: str) -> None:
    await filled(store, fresh)
    [bare, *_], _ = await store.scroll(fresh)
    assert not bare.vectors
    rows, _ = await store.scroll(fresh, vectors=["bm25"])
    assert [row.vectors.keys() for row in rows] == [{"bm25"}] * 4
    first = rows[0].vectors["bm25"]
    assert isinstance(first, Sparse)
    assert (list(first.indices), list(first.values)) == ([1, 2], [1.0, 2.0])
    rows, _ = await store.scroll(fresh, vectors=["dense", "bm25"], limit=1)
    assert rows[0].vectors.keys() == {"dense", "bm25"}
