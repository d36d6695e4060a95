"""`hybrid_search_context`: entries by words and by meaning."""

from typing import Any

import pytest

from tests.support.contract import Thread
from tests.support.thread_samples import sample_number

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_hybrid_scores_and_modes(filled: Thread) -> None:
    body = await filled.search("hybrid_search_context", query="payment queue broker restart")
    assert body["search_modes_used"] == ["fts", "semantic"]
    assert body["fusion_method"] == "rrf"
    assert (body["fts_count"], body["semantic_count"]) == (3, 4)
    best = body["results"][0]
    assert sample_number(best) == 1
    scores = best["scores"]
    assert scores["rrf"] == pytest.approx(
        1 / (60 + scores["fts_rank"]) + 1 / (60 + scores["semantic_rank"]), abs=1e-6
    )
    lone = next(hit for hit in body["results"] if sample_number(hit) == 3)
    assert lone["scores"]["fts_rank"] is None
    assert lone["scores"]["fts_score"] is None
    assert lone["scores"]["semantic_rank"] == 4


@pytest.mark.parametrize("mode", ["fts", "semantic"])
async def test_one_search_mode_alone(filled: Thread, mode: str) -> None:
    body = await filled.search("hybrid_search_context", query="payment queue", search_modes=[mode])
    assert body["search_modes_used"] == [mode]
    other = "semantic" if mode == "fts" else "fts"
    assert body[f"{other}_count"] == 0
    for place, hit in enumerate(body["results"], start=1):
        assert hit["scores"][f"{mode}_rank"] == place
        assert hit["scores"][f"{other}_rank"] is None
        assert hit["scores"]["rrf"] == pytest.approx(1 / (60 + place), abs=1e-6)


async def test_rrf_k_smooths(filled: Thread) -> None:
    for k in (1, 1000):
        body = await filled.search("hybrid_search_context", query="payment queue", rrf_k=k)
        scores = body["results"][0]["scores"]
        ranks = (scores["fts_rank"], scores["semantic_rank"])
        assert scores["rrf"] == pytest.approx(sum(1 / (k + r) for r in ranks if r), abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"rrf_k": 0}, "rrf_k"),
        ({"rrf_k": 1001}, "rrf_k"),
        ({"fusion_method": "dbsf"}, "fusion_method"),
        ({"search_modes": []}, "search_modes"),
        ({"search_modes": ["fuzzy"]}, "search_modes.0"),
    ],
)
async def test_hybrid_refuses(filled: Thread, arguments: dict[str, Any], field: str) -> None:
    body = await filled.tools.refused("hybrid_search_context", query="x", **arguments)
    assert body["details"]["field"] == field
