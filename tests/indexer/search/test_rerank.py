"""Reranking with a reranker small enough to see through."""

import time

import pytest

from ctx_core.errors import TimedOut
from ctx_core.rerank.reranker import Reranker, RerankStage
from ctx_indexer.search.query import parse_query
from ctx_indexer.search.rerank import CodeReranker
from ctx_indexer.search.rules import Ranked
from tests.indexer.search.test_ranking import candidate
from tests.support.fakes import Overlap

QUERY = parse_query("retry backoff")
FIRST, SECOND = "something else entirely", "retry with backoff"


def reranker(model: Reranker, *, blend: float = 0.6, deadline_seconds: float = 5.0) -> CodeReranker:
    return CodeReranker(RerankStage(model, deadline_seconds), blend, symbol_boost=1.0)


def ranked(score: float, definition: float = 0.0) -> Ranked:
    return Ranked(candidate("any"), score, {"definition": definition})


async def test_the_cross_encoder_changes_the_order() -> None:
    scores = await reranker(Overlap()).score(QUERY, [ranked(1.2), ranked(1.0)], [FIRST, SECOND])
    first, second = scores
    assert second.blended > first.blended
    assert second.cross_encoder == 1.0
    assert second.blended == pytest.approx((0.6 * 1.0 + 0.4 * 0.5) / 2)


async def test_a_blend_of_nothing_keeps_the_order() -> None:
    plain = reranker(Overlap(), blend=0.0)
    first, second = await plain.score(QUERY, [ranked(1.2), ranked(1.0)], [FIRST, SECOND])
    assert first.blended > second.blended


async def test_a_definition_keeps_its_place() -> None:
    items = [ranked(1.0), ranked(1.0, definition=1.0)]
    other, defined = await reranker(Overlap()).score(QUERY, items, [SECOND, "nothing of it"])
    assert defined.blended > other.blended


async def test_the_deadline_is_real() -> None:
    late = reranker(Overlap(seconds=3), deadline_seconds=0.05)
    started = time.perf_counter()
    with pytest.raises(TimedOut, match=r"0\.05 s"):
        await late.score(QUERY, [ranked(1.0)], [FIRST])
    assert time.perf_counter() - started < 2
