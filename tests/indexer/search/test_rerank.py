"""The second stage, with a reranker small enough to see through, and a real one where there is."""

import time
from collections.abc import Sequence
from typing import Any

import pytest

from services.core.errors import TimedOut
from services.core.rerank.stage import RerankStage
from services.core.text.tokens import text_terms
from services.indexer.schema.features import features
from services.indexer.search.query import parse_query
from services.indexer.search.ranking import Candidate, Ranked
from services.indexer.search.rerank import CodeReranker, SearchHit
from tests.indexer.search.test_ranking import PAYLOAD


class Overlap:
    """Fits by the share of the query's words that the text has."""

    name = "overlap"

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        time.sleep(self._seconds)
        wanted = set(text_terms(query))
        return [len(wanted & set(text_terms(text))) / len(wanted) for text in texts]


def stage(reranker: Any, deadline_seconds: float = 5.0, blend: float = 0.6) -> CodeReranker:
    return CodeReranker(RerankStage(reranker, deadline_seconds), blend, symbol_boost=1.0)


def found(name: str, score: float, text: str, definition: float = 0.0) -> SearchHit:
    payload = PAYLOAD | {"path": name, "text": text}
    ranked = Ranked(Candidate(name, features(payload)), score, {"definition": definition})
    return SearchHit(ranked, payload)


FIRST = found("first", 1.2, "something else entirely")
SECOND = found("second", 1.0, "retry with backoff")


async def test_the_reranker_changes_the_order() -> None:
    best, rest = await stage(Overlap()).reordered(parse_query("retry backoff"), [FIRST, SECOND])
    assert (best.payload["path"], rest.payload["path"]) == ("second", "first")
    assert best.fit == 1.0
    assert best.score == pytest.approx((0.6 * 1.0 + 0.4 * 0.5) / 2)


async def test_a_blend_of_nothing_keeps_the_order() -> None:
    kept = await stage(Overlap(), blend=0.0).reordered(parse_query("retry"), [FIRST, SECOND])
    assert [item.payload["path"] for item in kept] == ["first", "second"]


async def test_a_definition_keeps_its_place() -> None:
    defined = found("defined", 1.0, "nothing of it", definition=1.0)
    best, _ = await stage(Overlap()).reordered(parse_query("retry"), [SECOND, defined])
    assert best.payload["path"] == "defined"


async def test_the_deadline_is_real() -> None:
    late = stage(Overlap(seconds=3), deadline_seconds=0.05)
    started = time.perf_counter()
    with pytest.raises(TimedOut, match=r"0\.05 s"):
        await late.reordered(parse_query("retry"), [FIRST])
    assert time.perf_counter() - started < 2
