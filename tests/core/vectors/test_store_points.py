"""VectorStore on both engines: writing and reading points."""

import asyncio
from datetime import UTC, datetime
from uuid import UUID

import numpy
import pytest

from ctx_core.errors import InvalidInput
from ctx_core.vectors.points import Point, Sparse, Vector
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import AtLeast, Filter, HasId, Match, Query
from tests.support.vectors.samples import EIGHT_BITS, POINTS, SPEC, numbers, one_query, point, uid

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALL = Filter(must_not=[Match("n", -1)])


# --- writing -------------------------------------------------------------------------------


async def test_payloads_come_back_as_they_were(store: VectorStore, filled: str) -> None:
    found = await store.retrieve(filled, [uid(3), uid(99), uid(1), uid(3)])
    assert [record.id for record in found] == [uid(3), uid(1)]
    assert found[1].payload == POINTS[0].payload
    assert await store.retrieve(filled, []) == []
    [some] = await store.retrieve(filled, [uid(1)], fields=["n", "lang", "missing"])
    assert some.payload == {"n": 1, "lang": "python"}


async def test_unusual_payloads(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    moment = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
    payload = {
        "emoji 🦀 key": "naïve ☃ \u202e العربية \x00 end",
        "long": "x" * 100_000,
        "deep": {"list": [1, 2.5, None, True, {"a": []}]},
        "tuple": (1, 2),
        "at": moment,
        "big": 2**53 + 1,
    }
    await store.upsert(fresh, [point(1, payload)])
    [record] = await store.retrieve(fresh, [uid(1)])
    assert record.payload == {**payload, "tuple": [1, 2], "at": moment.isoformat()}
    assert record.payload["deep"]["list"][3] is True


async def test_an_upsert_replaces_the_whole_point(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    await store.upsert(fresh, POINTS)
    await store.upsert(fresh, [Point(uid(1), {"dense": [0.0, 0.0, 1.0, 0.0]}, {"lang": "c"})])
    [record] = await store.retrieve(fresh, [uid(1)])
    assert record.payload == {"lang": "c"}
    assert await store.count(fresh) == 4
    assert await store.count(fresh, Filter(must=[Match("lang", "python")])) == 1
    facets = await store.facet(fresh, "lang")
    assert {each.value: each.count for each in facets} == {"go": 2, "c": 1, "python": 1, "rust": 1}
    hits = await one_query(store, fresh, Query("bm25", Sparse([1], [1.0]), 9))
    assert hits == []
    hits = await one_query(store, fresh, Query("dense", [0.0, 0.0, 1.0, 0.0], 1))
    assert hits[0].id == uid(1)
    assert hits[0].score == pytest.approx(1.0, abs=EIGHT_BITS)


async def test_an_empty_upsert_does_nothing(store: VectorStore, filled: str) -> None:
    await store.upsert(filled, [])
    assert await store.count(filled) == 4


async def test_a_point_may_lack_vectors(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    await store.upsert(fresh, [Point(uid(1), {}, {"n": 1}), point(2)])
    assert await store.count(fresh) == 2
    hits = await one_query(store, fresh, Query("dense", [1.0, 0.0, 0.0, 0.0], 9))
    assert [hit.id for hit in hits] == [uid(2)]


async def test_numpy_vectors_are_stored(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    vectors: dict[str, Vector] = {
        "dense": numpy.array([0, 0, 3, 4], dtype=numpy.float32),  # type: ignore[dict-item]
        "bm25": Sparse(numpy.array([9]), numpy.array([1.0])),  # type: ignore[arg-type]
    }
    await store.upsert(fresh, [Point(uid(1), vectors, {})])
    [hit] = await one_query(store, fresh, Query("dense", [0.0, 0.0, 1.0, 0.0], 1))
    assert hit.score == pytest.approx(0.6, abs=EIGHT_BITS)
    [hit] = await one_query(store, fresh, Query("bm25", Sparse([9], [1.0]), 1))
    assert hit.id == uid(1)


WRONG = {
    "id": Point("seven", {"dense": [1.0, 0.0, 0.0, 0.0]}, {}),
    "vector name": point(9, nope=[1.0]),
    "dims": point(9, dense=[1.0, 2.0]),
    "dense for sparse": point(9, bm25=[1.0, 2.0, 3.0, 4.0]),
    "sparse for dense": point(9, dense=Sparse([1], [1.0])),
    "sparse lengths": point(9, bm25=Sparse([1, 2], [1.0])),
    "sparse repeats": point(9, bm25=Sparse([1, 1], [1.0, 2.0])),
    "not finite": point(9, dense=[1.0, float("nan"), 0.0, 0.0]),
    "payload type": point(9, {"a": object()}),
    "payload nan": point(9, {"a": float("inf")}),
    "payload naive datetime": point(9, {"a": datetime(2024, 1, 1)}),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_point_is_refused(store: VectorStore, fresh: str, wrong: Point) -> None:
    await store.ensure_collection(fresh, SPEC)
    with pytest.raises(InvalidInput):
        await store.upsert(fresh, [wrong])
    assert await store.count(fresh) == 0


async def test_delete_by_filter(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    await store.upsert(fresh, [*POINTS, *(point(n, {"n": n}) for n in range(10, 3000))])
    await store.delete(fresh, Filter(must=[AtLeast("n", 10)]))
    assert await store.count(fresh) == 4
    await store.delete(fresh, Filter(must=[Match("test", True)]))
    found, _ = await store.scroll(fresh)
    assert numbers(found) == [2, 4]
    assert {each.value for each in await store.facet(fresh, "lang")} == {"go", "rust"}
    await store.delete(fresh, Filter(must=[Match("lang", "no such")]))
    assert (await store.collection_info(fresh)).points_count == 2


async def test_scroll_reads_the_fields_that_are_asked_for(store: VectorStore, filled: str) -> None:
    whole, _ = await store.scroll(filled)
    some, _ = await store.scroll(filled, fields=["lang"])
    none, _ = await store.scroll(filled, fields=())
    assert [each.id for each in some] == [each.id for each in none] == [each.id for each in whole]
    assert [each.payload for each in some] == [{"lang": each.payload["lang"]} for each in whole]
    assert not any(each.payload for each in none)


async def test_an_empty_filter_deletes_nothing(store: VectorStore, filled: str) -> None:
    with pytest.raises(InvalidInput):
        await store.delete(filled, Filter())
    assert await store.count(filled) == 4


async def test_queries_run_while_thousands_of_points_are_written(
    store: VectorStore, fresh: str
) -> None:
    await store.ensure_collection(fresh, SPEC)
    await store.upsert(fresh, POINTS)
    points = [point(n, {"n": n, "lang": "c"}) for n in range(100, 5100)]
    writing = asyncio.create_task(store.upsert(fresh, points))
    during = []
    while not writing.done():
        during.append(await store.count(fresh))
        where = Filter(must=[Match("test", True)])
        query = Query("dense", [1.0, 0.0, 0.0, 0.0], 2, filter=where)
        answers = await asyncio.gather(*(one_query(store, fresh, query) for _ in range(3)))
        assert [[hit.id for hit in hits] for hits in answers] == [[uid(1), uid(3)]] * 3
        await asyncio.sleep(0.001)
    await writing
    assert await store.count(fresh) == 5004
    assert any(4 < count < 5004 for count in during), "no query ran between the batches"


# --- reading -------------------------------------------------------------------------------


async def test_scroll_pages_meet_every_point_once(store: VectorStore, filled: str) -> None:
    first, following = await store.scroll(filled, limit=3)
    assert numbers(first) == [1, 2, 3]
    assert following == uid(4)
    second, end = await store.scroll(filled, limit=3, offset=following)
    assert (numbers(second), end) == ([4], None)
    where = Filter(must_not=[Match("n", 1)])
    page, following = await store.scroll(filled, where=where, limit=2)
    assert (numbers(page), following) == ([2, 3], uid(4))
    assert page[0].payload == POINTS[1].payload


async def test_scroll_refuses_what_it_cannot_do(store: VectorStore, filled: str) -> None:
    with pytest.raises(InvalidInput):
        await store.scroll(filled, limit=0)
    with pytest.raises(InvalidInput):
        await store.scroll(filled, offset="four")


async def test_facets(store: VectorStore, filled: str) -> None:
    async def counted(field: str, where: Filter | None = None) -> dict[object, int]:
        found = await store.facet(filled, field, where=where)
        assert [each.count for each in found] == sorted((e.count for e in found), reverse=True)
        return {each.value: each.count for each in found}

    assert await counted("lang") == {"go": 2, "python": 2, "rust": 1}
    assert await counted("n") == {1: 1, 2: 1, 3: 1, 4: 1}
    flags = await counted("test")
    assert flags == {True: 2, False: 1}
    assert all(isinstance(flag, bool) for flag in flags)
    assert await counted("lang", Filter(must=[Match("test", True)])) == {"go": 1, "python": 2}
    assert len(await store.facet(filled, "n", limit=2)) == 2
    for wrong in ("kind", "text"):
        with pytest.raises(InvalidInput):
            await store.facet(filled, wrong)


async def test_ids_are_the_same_however_they_are_written(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    plain = UUID("0123abcd-0123-4567-89ab-0123456789ab")
    await store.upsert(fresh, [Point(plain.hex.upper(), {}, {})])
    [record] = await store.retrieve(fresh, [plain.urn])
    assert record.id == str(plain)
    assert await store.count(fresh, Filter(must=[HasId([str(plain)])])) == 1


async def test_a_store_that_answers_needs_no_advice(store: VectorStore) -> None:
    await store.ping()
    assert await store.advice() is None
    assert store.engine.startswith(("embedded (", "server (http"))
