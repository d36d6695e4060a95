"""Searches of one kind: by filters alone, by meaning, by words."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from services.memory.records.store import Records
from services.memory.records.types import Criteria, TextHit, TextMode
from services.memory.search.entry_search import EntryHit
from services.memory.search.failures import DIGITS, milliseconds
from services.memory.search.semantic import SemanticRetriever, l2
from services.memory.threads.filters import asked, clamped, conditions
from services.memory.threads.render import HitView, Scores
from services.memory.threads.responses import SearchAnswer, SemanticAnswer, TextAnswer
from services.memory.threads.results import RankedEntry, Request, Results

A = TypeVar("A", bound=SearchAnswer)


class Searcher:
    """What `search_context`, `semantic_search_context` and `fts_search_context` do."""

    def __init__(
        self, records: Records, meaning: SemanticRetriever, results: Results, language: str
    ) -> None:
        self._records = records
        self.meaning = meaning
        self._results = results
        self._language = language

    async def browse(self, request: Request) -> SearchAnswer:
        """The newest entries that the filters admit."""
        begun = time.perf_counter()
        limit, warnings = clamped(request.limit)
        criteria, wrong = request.filters.criteria()
        if wrong:
            return {"results": [], "count": 0, "validation_errors": wrong}
        entries = await self._records.select(criteria, limit, request.offset)
        views = await self._results.shown(entries, request.include_images)
        answer: SearchAnswer = {"results": views, "count": len(views)}
        return await self._finished(answer, request, criteria, warnings, begun)

    async def by_meaning(self, query: str, request: Request) -> SemanticAnswer:
        begun = time.perf_counter()
        text = asked(query, request.offset)
        limit, warnings = clamped(request.limit)
        criteria, wrong = request.filters.criteria()
        answer: SemanticAnswer = {
            "query": query,
            "results": [],
            "count": 0,
            "model": self.meaning.model,
        }
        if wrong:
            return {**answer, "validation_errors": wrong}
        depth = self._results.depth(request, limit)
        embedded = 0.0

        async def nearest(vector: Sequence[float]) -> list[EntryHit]:
            nonlocal embedded
            embedded = milliseconds(begun)
            return await self.meaning.nearest(vector, criteria, depth)

        found = [_near(item) for item in await self.meaning.ask(text, nearest)]
        views, more = await self._results.ranked(text, found, request, limit, criteria)
        _show(answer, views)
        extra = {"embedding_generation_ms": embedded}
        return await self._finished(answer, request, criteria, warnings + more, begun, extra)

    async def by_words(
        self, query: str, mode: TextMode, highlight: bool, request: Request
    ) -> TextAnswer:
        begun = time.perf_counter()
        text = asked(query, request.offset)
        limit, warnings = clamped(request.limit)
        criteria, wrong = request.filters.criteria()
        answer: TextAnswer = {
            "query": query,
            "results": [],
            "count": 0,
            "mode": mode.value,
            "language": self._language,
        }
        if wrong:
            return {**answer, "validation_errors": wrong}
        depth = self._results.depth(request, limit)
        skipped = 0 if self._results.reranks else request.offset
        hits, said = await self._records.full_text(
            text, mode, criteria, depth - skipped, skipped, highlight=highlight
        )
        found = [_text(hit) for hit in hits]
        page = replace(request, offset=request.offset - skipped)
        views, more = await self._results.ranked(text, found, page, limit, criteria)
        if highlight:
            marked = {hit.entry.id: hit.highlighted for hit in hits}
            for view in views:
                view["highlighted"] = marked[view["id"]]
        _show(answer, views)
        return await self._finished(answer, request, criteria, [*warnings, *said, *more], begun)

    async def _finished(
        self,
        answer: A,
        request: Request,
        criteria: Criteria,
        warnings: Sequence[str],
        begun: float,
        extra: dict[str, Any] | None = None,
    ) -> A:
        """With the warnings where there are any, and the statistics where they are asked for."""
        if warnings:
            answer["warnings"] = list(warnings)
        if request.explain:
            answer["stats"] = {
                "execution_time_ms": milliseconds(begun),
                **(extra or {}),
                **await described(self._records, criteria),
                "rows_returned": answer["count"],
            }
        return answer


async def described(records: Records, criteria: Criteria) -> dict[str, Any]:
    """What `stats` says about the filters."""
    return {
        "filters_applied": conditions(criteria),
        "backend": records.dialect,
        "query_plan": await records.explain(criteria),
    }


def _near(item: EntryHit) -> RankedEntry:
    distance = round(l2(item.score), DIGITS)
    scores: Scores = {"semantic_distance": distance, "semantic_rank": None}
    return RankedEntry(item.id, scores, item.uuid, item.chunk)


def _text(hit: TextHit) -> RankedEntry:
    scores: Scores = {"fts_score": round(hit.score, DIGITS), "fts_rank": None}
    return RankedEntry(hit.entry.id, scores, entry=hit.entry)


def _show(answer: SearchAnswer, views: list[HitView]) -> None:
    answer["results"] = views
    answer["count"] = len(views)
