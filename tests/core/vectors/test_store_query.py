"""VectorStore on both engines: queries, their scores and their limits."""

import math
from collections.abc import Sequence
from uuid import UUID

import numpy
import pytest

from ctx_core.errors import CollectionNotFound, InvalidInput
from ctx_core.vectors.points import Hit, Sparse
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match, Prefetch, Query, RankFusion
from tests.support.vectors.samples import EIGHT_BITS, POINTS

pytestmark = pytest.mark.asyncio(loop_scope="module")

# In dense order: 1, 2, 3, 4. In the order of term 7: 4, 3.
DENSE = Prefetch("dense", [1.0, 0.0, 0.0, 0.0], 10)
BM25 = Prefetch("bm25", Sparse([7], [1.0]), 10)


def scores(hits: Sequence[Hit]) -> dict[int, float]:
    return {UUID(hit.id).int: hit.score for hit in hits}


def order(hits: Sequence[Hit]) -> list[int]:
    return list(scores(hits))


async def ask(
    store: VectorStore,
    name: str,
    *prefetch: Prefetch,
    limit: int = 10,
    fusion: RankFusion | None = None,
    where: Filter | None = None,
    offset: int = 0,
) -> Sequence[Hit]:
    return await store.query(name, Query(prefetch, limit, fusion, where, offset))


async def test_dense_scores_are_cosines_and_hits_have_payloads(
    store: VectorStore, filled: str
) -> None:
    hits = await ask(store, filled, DENSE)
    expected = {1: 1.0, 2: 1 / math.sqrt(2), 3: 1 / math.sqrt(5), 4: 0.0}
    assert order(hits) == [1, 2, 3, 4]
    assert scores(hits) == pytest.approx(expected, abs=EIGHT_BITS)
    assert hits[0].payload == POINTS[0].payload


async def test_numpy_vectors_are_accepted(store: VectorStore, filled: str) -> None:
    vector = numpy.array([0.0, 1.0, 0.0, 0.0], dtype=numpy.float32)
    hits = await ask(store, filled, Prefetch("dense", vector, 1))  # type: ignore[arg-type]
    assert order(hits) == [4, 3, 2, 1]


async def test_sparse_scores_weigh_rare_terms_more(store: VectorStore, filled: str) -> None:
    """IDF as Qdrant has it: ln(1 + (points - having + 0.5) / (having + 0.5))."""
    hits = await ask(store, filled, BM25)
    idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    assert scores(hits) == pytest.approx({4: 4 * idf, 3: idf}, abs=1e-6)
    both = await ask(store, filled, Prefetch("bm25", Sparse([1, 2], [1.0, 1.0]), 10))
    rare, common = math.log(1 + 3.5 / 1.5), math.log(1 + 0.5 / 4.5)
    assert scores(both)[1] == pytest.approx(rare + 2 * common, abs=1e-6)


async def test_sparse_query_without_terms_finds_nothing(store: VectorStore, filled: str) -> None:
    assert await ask(store, filled, Prefetch("bm25", Sparse([], []), 10)) == []
    assert await ask(store, filled, Prefetch("bm25", Sparse([999], [1.0]), 10)) == []


@pytest.mark.parametrize("k", [1, 2, 60])
async def test_rank_fusion_scores(store: VectorStore, filled: str, k: int) -> None:
    """Each prefetch adds 1 / (k + rank), ranks from 0."""
    hits = await ask(store, filled, DENSE, BM25, fusion=RankFusion(k))
    expected = {
        1: 1 / k,
        2: 1 / (k + 1),
        3: 1 / (k + 2) + 1 / (k + 1),
        4: 1 / (k + 3) + 1 / k,
    }
    assert scores(hits) == pytest.approx(expected, rel=1e-5)
    ranked = [hit.score for hit in hits]
    assert ranked == sorted(ranked, reverse=True)


async def test_limit_and_offset(store: VectorStore, filled: str) -> None:
    assert order(await ask(store, filled, DENSE, limit=2)) == [1, 2]
    assert order(await ask(store, filled, DENSE, limit=2, offset=1)) == [2, 3]
    assert order(await ask(store, filled, DENSE, limit=2, offset=9)) == []
    fusion = RankFusion(2)
    whole = order(await ask(store, filled, DENSE, BM25, fusion=fusion))
    assert order(await ask(store, filled, DENSE, BM25, fusion=fusion, limit=2)) == whole[:2]
    paged = await ask(store, filled, DENSE, BM25, fusion=fusion, limit=2, offset=1)
    assert order(paged) == whole[1:3]


async def test_a_prefetch_gives_no_more_candidates_than_its_limit(
    store: VectorStore, filled: str
) -> None:
    few = Prefetch("dense", DENSE.vector, 1)
    hits = await ask(store, filled, few, BM25, fusion=RankFusion(2))
    assert set(order(hits)) == {1, 3, 4}


async def test_filters_hold_in_every_prefetch(store: VectorStore, filled: str) -> None:
    where = Filter(must=[Match("test", True)])
    assert order(await ask(store, filled, DENSE, where=where)) == [1, 3]
    assert order(await ask(store, filled, BM25, where=where)) == [3]
    # One candidate each: were the filter applied after the prefetches, 3 would not be found.
    narrow = [Prefetch(each.using, each.vector, 1) for each in (DENSE, BM25)]
    hits = await ask(store, filled, *narrow, fusion=RankFusion(2), where=where)
    assert set(order(hits)) == {1, 3}


async def test_one_prefetch_may_be_fused(store: VectorStore, filled: str) -> None:
    hits = await ask(store, filled, DENSE, fusion=RankFusion(2))
    assert scores(hits) == pytest.approx({1: 1 / 2, 2: 1 / 3, 3: 1 / 4, 4: 1 / 5}, rel=1e-5)


async def test_unknown_collection(store: VectorStore) -> None:
    with pytest.raises(CollectionNotFound, match="nowhere"):
        await ask(store, "nowhere", DENSE)


WRONG = {
    "unknown vector": Query([Prefetch("nope", [1.0, 0.0, 0.0, 0.0], 1)], 1),
    "dims": Query([Prefetch("dense", [1.0], 1)], 1),
    "dense for sparse": Query([Prefetch("bm25", [1.0, 2.0], 1)], 1),
    "sparse for dense": Query([Prefetch("dense", Sparse([1], [1.0]), 1)], 1),
    "dims in a fused prefetch": Query([DENSE, Prefetch("dense", [1.0], 1)], 1, RankFusion(2)),
    "no prefetch": Query([], 1),
    "no fusion": Query([DENSE, BM25], 1),
    "no k": Query([DENSE, BM25], 1, RankFusion(0)),
    "no limit": Query([DENSE], 0),
    "no prefetch limit": Query([Prefetch("dense", [1.0, 0.0, 0.0, 0.0], 0)], 1),
    "negative offset": Query([DENSE], 1, offset=-1),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
async def test_wrong_queries_are_refused(store: VectorStore, filled: str, wrong: Query) -> None:
    with pytest.raises(InvalidInput):
        await store.query(filled, wrong)


async def test_a_batch_answers_each_query_in_order(store: VectorStore, filled: str) -> None:
    near = Query([Prefetch("dense", [1.0, 0.0, 0.0, 0.0], 4)], limit=4)
    rare = Query([Prefetch("bm25", Sparse([7], [1.0]), 4)], limit=4)
    both = await store.query_batch(filled, [near, rare])
    assert [list(hits) for hits in both] == [
        list(await store.query(filled, near)),
        list(await store.query(filled, rare)),
    ]


async def test_payload_may_be_left_out(store: VectorStore, filled: str) -> None:
    prefetch = Prefetch("dense", [1.0, 0.0, 0.0, 0.0], 4)
    [slim] = await store.query(filled, Query([prefetch], limit=1, with_payload=False))
    [whole] = await store.query(filled, Query([prefetch], limit=1))
    assert slim.payload == {}
    assert whole.payload
    assert (slim.id, slim.score) == (whole.id, whole.score)
