"""Hybrid search: by words and by meaning at once, fused by rank."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from services.memory.records.store import Records
from services.memory.search.failures import DIGITS, milliseconds
from services.memory.search.fusion import Fused, fuse
from services.memory.search.retrievers import FTS, MODES, SEMANTIC, RetrieverResult, Retrievers
from services.memory.threads.filters import asked, clamped
from services.memory.threads.responses import HybridAnswer
from services.memory.threads.results import RankedEntry, Request, Results
from services.memory.threads.searches import described

FUSION = "rrf"
# How deep each leg looks. It doubles with the page, and not before, so that the first pages are
# cut from one order.
LEG_DEPTH = 50
SPARE = 20  # candidates beyond the page, in place of entries that were deleted meanwhile


class HybridSearcher:
    """What `hybrid_search_context` does."""

    def __init__(self, records: Records, legs: Retrievers, results: Results, rrf_k: int) -> None:
        self._records = records
        self._legs = legs
        self._results = results
        self._rrf_k = rrf_k

    async def search(
        self, query: str, modes: Sequence[str] | None, rrf_k: int | None, request: Request
    ) -> HybridAnswer:
        """One leg that fails leaves the other and a warning; with none left it is an error."""
        begun = time.perf_counter()
        text = asked(query, request.offset)
        limit, warnings = clamped(request.limit)
        criteria, wrong = request.filters.criteria()
        answer = _answer(query)
        if wrong:
            return {**answer, "validation_errors": wrong}
        depth = _depth(request.offset + limit)
        legs = await self._legs.run(text, modes or MODES, criteria, depth)
        fused = fuse([list(legs[name].hits) for name in MODES], rrf_k or self._rrf_k)
        candidates = fused[: self._results.depth(request, limit) + SPARE]
        found = [_found(item, legs) for item in candidates]
        answer["results"], more = await self._results.ranked(text, found, request, limit, criteria)
        answer["count"] = len(answer["results"])
        answer["search_modes_used"] = [
            name for name in MODES if name in (modes or MODES) and legs[name].failure is None
        ]
        answer["fts_count"] = len(legs[FTS].hits)
        answer["semantic_count"] = len(legs[SEMANTIC].hits)
        warnings += [warning for leg in legs.values() for warning in leg.warnings] + more
        if warnings:
            answer["warnings"] = warnings
        if request.explain:
            answer["stats"] = {
                "execution_time_ms": milliseconds(begun),
                "fts_stats": _stats(legs[FTS]),
                "semantic_stats": _stats(legs[SEMANTIC]),
                "fusion_stats": _fusion_stats(fused, rrf_k or self._rrf_k),
                **await described(self._records, criteria),
                "rows_returned": answer["count"],
            }
        return answer


def _depth(needed: int) -> int:
    depth = LEG_DEPTH
    while depth < needed * 2:
        depth *= 2
    return depth


def _answer(query: str) -> HybridAnswer:
    return {
        "query": query,
        "results": [],
        "count": 0,
        "fusion_method": FUSION,
        "search_modes_used": [],
        "fts_count": 0,
        "semantic_count": 0,
    }


def _found(item: Fused, legs: Mapping[str, RetrieverResult]) -> RankedEntry:
    near = legs[SEMANTIC].hits.get(item.id) or legs[FTS].hits[item.id]
    fts_rank, semantic_rank = item.ranks
    return RankedEntry(
        item.id,
        {
            "rrf": round(item.score, DIGITS),
            "fts_rank": fts_rank,
            "semantic_rank": semantic_rank,
            "fts_score": legs[FTS].score(item.id),
            "semantic_distance": legs[SEMANTIC].score(item.id),
        },
        near.uuid,
        near.chunk,
    )


def _stats(leg: RetrieverResult) -> dict[str, Any]:
    return {
        "execution_time_ms": leg.milliseconds,
        "backend": leg.backend,
        "results_count": len(leg.hits),
        "error": leg.failure,
    }


def _fusion_stats(fused: Sequence[Fused], k: int) -> dict[str, Any]:
    both = sum(None not in item.ranks for item in fused)
    words, meaning = (sum(item.ranks[leg] is not None for item in fused) for leg in (0, 1))
    return {
        "rrf_k": k,
        "total_unique_documents": len(fused),
        "documents_in_both": both,
        "documents_fts_only": words - both,
        "documents_semantic_only": meaning - both,
    }
