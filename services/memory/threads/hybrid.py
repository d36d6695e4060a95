"""Hybrid search: by words and by meaning at once, fused by rank."""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.core.errors import SearchFailed
from services.memory.records.model import Criteria
from services.memory.records.store import Records
from services.memory.threads.answers import HybridAnswer
from services.memory.threads.fusion import Fused, fuse
from services.memory.threads.results import Found, Request, Results, milliseconds, told
from services.memory.threads.searching import DIGITS, described
from services.memory.threads.semantic import Meaning
from services.memory.threads.wanted import asked, clamped

FTS, SEMANTIC = "fts", "semantic"
MODES = (FTS, SEMANTIC)
FUSION = "rrf"
# How deep each leg looks. It doubles with the page, and not before, so that the first pages are
# cut from one order.
LEG_DEPTH = 50
SPARE = 20  # candidates beyond the page, in place of entries that were deleted meanwhile
# The embedded engine stops this process's loop while it searches, 10 ms of 100,000 points. SQL is
# asked before that, so that both work at the same time.
HEAD_START_SECONDS = 0.002


@dataclass(frozen=True)
class Hit:
    """How one leg found an entry."""

    score: float
    uuid: str | None = None
    chunk: int = 0


@dataclass(frozen=True)
class Leg:
    """What one way of looking brought, in its order, or the reason why it failed."""

    hits: Mapping[int, Hit] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    failure: str | None = None
    milliseconds: float = 0.0

    def score(self, id_: int) -> float | None:
        return round(self.hits[id_].score, DIGITS) if id_ in self.hits else None


class HybridSearcher:
    """What `hybrid_search_context` does."""

    def __init__(self, records: Records, meaning: Meaning, results: Results, rrf_k: int) -> None:
        self._records = records
        self._meaning = meaning
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
        legs = await self._legs(text, modes or MODES, criteria, _depth(request.offset + limit))
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

    async def _legs(
        self, query: str, modes: Sequence[str], criteria: Criteria, depth: int
    ) -> dict[str, Leg]:
        """Both at once; a leg that is not asked for is empty."""
        ways = {FTS: self._by_words, SEMANTIC: self._by_meaning}
        running = {name: ways[name](query, criteria, depth) for name in MODES if name in modes}
        legs = await asyncio.gather(*(_guarded(name, way) for name, way in running.items()))
        found = dict(zip(running, legs, strict=True))
        failures = [leg.failure for leg in legs if leg.failure is not None]
        if len(failures) == len(legs):
            raise SearchFailed(f"No search was possible: {'; '.join(failures)}")
        return {name: found.get(name, Leg()) for name in MODES}

    async def _by_words(self, query: str, criteria: Criteria, depth: int) -> Leg:
        """Any of the words counts: a question seldom has all of them in one entry."""
        hits, warnings = await self._records.ranked_by_words(query, criteria, depth)
        return Leg({id_: Hit(score) for id_, score in hits}, warnings)

    async def _by_meaning(self, query: str, criteria: Criteria, depth: int) -> Leg:
        vector = await self._meaning.embed(query)
        await asyncio.sleep(HEAD_START_SECONDS)
        near = await self._meaning.nearest(vector, criteria, depth)
        return Leg({item.id: Hit(item.distance, item.uuid, item.chunk) for item in near[:depth]})


async def _guarded(name: str, way: Awaitable[Leg]) -> Leg:
    begun = time.perf_counter()
    try:
        leg = await way
    except Exception as error:  # noqa: BLE001 - whatever fails, the other leg can answer
        reason = told(error, name)
        return Leg(warnings=[reason], failure=reason, milliseconds=milliseconds(begun))
    return Leg(leg.hits, leg.warnings, None, milliseconds(begun))


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


def _found(item: Fused, legs: Mapping[str, Leg]) -> Found:
    near = legs[SEMANTIC].hits.get(item.id)
    fts_rank, semantic_rank = item.ranks
    return Found(
        item.id,
        {
            "rrf": round(item.score, DIGITS),
            "fts_rank": fts_rank,
            "semantic_rank": semantic_rank,
            "fts_score": legs[FTS].score(item.id),
            "semantic_distance": legs[SEMANTIC].score(item.id),
        },
        near.uuid if near else None,
        near.chunk if near else 0,
    )


def _stats(leg: Leg) -> dict[str, Any]:
    return {
        "execution_time_ms": leg.milliseconds,
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
