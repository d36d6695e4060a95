"""VectorStore on both engines: queries, their scores and their limits."""

import math
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy
import pytest

from ctx_core.errors import CollectionNotFound, InvalidInput
from ctx_core.vectors.points import Hit, Sparse
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match, Query
from tests.support.vectors.samples import EIGHT_BITS, POINTS, one_query

pytestmark = pytest.mark.asyncio(loop_scope="module")

# In dense order: 1, 2, 3, 4. In the order of term 7: 4, 3.
DENSE = Query("dense", [1.0, 0.0, 0.0, 0.0], 10)
BM25 = Query("bm25", Sparse([7], [1.0]), 10)


def scores(hits: Sequence[Hit]) -> dict[int, float]:
    return {UUID(hit.id).int: hit.score for hit in hits}


def order(hits: Sequence[Hit]) -> list[int]:
    return list(scores(hits))


async def test_dense_scores_are_cosines_and_hits_have_payloads(
    store: VectorStore, filled: str
) -> None:
    hits = await one_query(store, filled, DENSE)
    expected = {1: 1.0, 2: 1 / math.sqrt(2), 3: 1 / math.sqrt(5), 4: 0.0}
    assert order(hits) == [1, 2, 3, 4]
    assert scores(hits) == pytest.approx(expected, abs=EIGHT_BITS)
    assert hits[0].payload == POINTS[0].payload


async def test_numpy_vectors_are_accepted(store: VectorStore, filled: str) -> None:
    vector = numpy.array([0.0, 1.0, 0.0, 0.0], dtype=numpy.float32)
    hits = await one_query(store, filled, Query("dense", vector, 10))  # type: ignore[arg-type]
    assert order(hits) == [4, 3, 2, 1]


async def test_sparse_scores_weigh_rare_terms_more(store: VectorStore, filled: str) -> None:
    """IDF as Qdrant has it: ln(1 + (points - having + 0.5) / (having + 0.5))."""
    hits = await one_query(store, filled, BM25)
    idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    assert scores(hits) == pytest.approx({4: 4 * idf, 3: idf}, abs=1e-6)
    both = await one_query(store, filled, Query("bm25", Sparse([1, 2], [1.0, 1.0]), 10))
    rare, common = math.log(1 + 3.5 / 1.5), math.log(1 + 0.5 / 4.5)
    assert scores(both)[1] == pytest.approx(rare + 2 * common, abs=1e-6)


async def test_sparse_query_without_terms_finds_nothing(store: VectorStore, filled: str) -> None:
    assert await one_query(store, filled, Query("bm25", Sparse([], []), 10)) == []
    assert await one_query(store, filled, Query("bm25", Sparse([999], [1.0]), 10)) == []


async def test_limit_and_offset(store: VectorStore, filled: str) -> None:
    pages = {(2, 0): [1, 2], (2, 1): [2, 3], (2, 9): []}
    for (limit, offset), expected in pages.items():
        query = replace(DENSE, limit=limit, offset=offset)
        assert order(await one_query(store, filled, query)) == expected


async def test_only_points_that_meet_the_filter_are_ranked(store: VectorStore, filled: str) -> None:
    where = Filter(must=[Match("test", True)])
    assert order(await one_query(store, filled, replace(DENSE, filter=where))) == [1, 3]
    # One point: were the filter applied after the ranking, 3 would not be found.
    assert order(await one_query(store, filled, replace(BM25, filter=where, limit=1))) == [3]


async def test_unknown_collection(store: VectorStore) -> None:
    with pytest.raises(CollectionNotFound, match="nowhere"):
        await one_query(store, "nowhere", DENSE)


WRONG = {
    "unknown vector": Query("nope", [1.0, 0.0, 0.0, 0.0], 1),
    "dims": Query("dense", [1.0], 1),
    "dense for sparse": Query("bm25", [1.0, 2.0], 1),
    "sparse for dense": Query("dense", Sparse([1], [1.0]), 1),
    "no limit": replace(DENSE, limit=0),
    "negative offset": replace(DENSE, offset=-1),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
async def test_wrong_queries_are_refused(store: VectorStore, filled: str, wrong: Query) -> None:
    with pytest.raises(InvalidInput):
        await one_query(store, filled, wrong)


async def test_a_batch_answers_each_query_in_order(store: VectorStore, filled: str) -> None:
    near = Query("dense", [1.0, 0.0, 0.0, 0.0], limit=4)
    rare = Query("bm25", Sparse([7], [1.0]), limit=4)
    both = await store.query_batch(filled, [near, rare])
    assert [list(hits) for hits in both] == [
        list(await one_query(store, filled, near)),
        list(await one_query(store, filled, rare)),
    ]


async def test_payload_may_be_left_out(store: VectorStore, filled: str) -> None:
    [slim] = await one_query(store, filled, replace(DENSE, limit=1, with_payload=False))
    [whole] = await one_query(store, filled, replace(DENSE, limit=1))
    assert slim.payload == {}
    assert whole.payload
    assert (slim.id, slim.score) == (whole.id, whole.score)
