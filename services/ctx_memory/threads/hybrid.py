"""Hybrid search: by words and by meaning at once, with the entries beside each as context."""

from collections.abc import Sequence
from typing import Any

from ctx_core.errors import InvalidInput
from ctx_core.ranking.calibration import calibration
from ctx_core.ranking.repeats import without_repeats
from ctx_core.ranking.scoring import WEIGHTS, rank
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Criteria
from ctx_memory.search.filters import count_filters
from ctx_memory.search.pages import RankedEntry, RankedPages
from ctx_memory.search.report import SCORE_DIGITS
from ctx_memory.search.retrievers import (
    FTS,
    MODES,
    SEMANTIC,
    FusedEntry,
    Retrieved,
    Retrievers,
    fuse,
)
from ctx_memory.threads.render import Results
from ctx_memory.threads.responses import HybridSearchResult
from ctx_memory.threads.search_frame import PreparedSearch, SearchFrame, SearchPage
from ctx_memory.threads.search_request import SearchRequest, check_query

FUSION = "rrf"
FTS_MODE = "boolean"  # in the words of fts_search_context: all words of a query joined by OR
# Entries that each retriever returns. It doubles with the page, and not before, so that the first
# pages are cut from one order.
MIN_DEPTH = 32
SPARE = 20  # candidates beyond the page, in place of entries that were deleted meanwhile


class HybridSearch:
    """Runs `hybrid_search_context`."""

    def __init__(
        self,
        records: EntryRecords,
        retrievers: Retrievers,
        pages: RankedPages,
        results: Results,
        rrf_k: int,
        modes: Sequence[str] = MODES,
    ) -> None:
        self._modes = modes
        self.retrievers = retrievers
        self._pages = pages
        self._results = results
        self._rrf_k = rrf_k
        self._frame = SearchFrame(records)

    async def search(
        self,
        query: str,
        modes: Sequence[str] | None,
        rrf_k: int | None,
        request: SearchRequest,
    ) -> HybridSearchResult:
        """Return the entries that both modes rank best; a mode that fails leaves a warning.

        Raises SearchFailed where every mode failed.
        """
        text = check_query(query, request.offset)
        modes, k = self._chosen(modes), rrf_k or self._rrf_k
        result = _empty_result(query)

        async def search(prepared: PreparedSearch) -> SearchPage:
            depth = _depth(prepared.offset + prepared.limit)
            retrieved = await self.retrievers.retrieve(
                text, modes, prepared.criteria, depth, measured=request.explain
            )
            result["search_modes_used"] = [
                mode for mode in MODES if mode in modes and retrieved[mode].failure is None
            ]
            result["fts_count"] = len(retrieved[FTS].hits)
            result["semantic_count"] = len(retrieved[SEMANTIC].hits)
            fused = fuse([list(retrieved[mode].hits) for mode in MODES], k)
            count = self._pages.depth(prepared.offset, prepared.limit) + SPARE
            ranking = _ranking(text, fused, retrieved, count)
            page = await self._pages.page(
                text,
                ranking,
                prepared.criteria,
                prepared.limit,
                prepared.offset,
            )
            warnings = [text for mode in MODES for text in retrieved[mode].warnings]
            return SearchPage(
                await self._results.ranked_hits(page, prepared.include_images),
                [*warnings, *page.warnings],
                {
                    "fts_stats": _stats(retrieved, FTS, modes, prepared.criteria),
                    "semantic_stats": _stats(retrieved, SEMANTIC, modes, prepared.criteria),
                    "fusion_stats": _fusion_stats(fused, k),
                    "adaptive_fts_mode": FTS_MODE if FTS in modes else None,
                },
            )

        return await self._frame.run(result, request, search)

    def _chosen(self, modes: Sequence[str] | None) -> Sequence[str]:
        """Return the modes to run. Raises InvalidInput where all named ones are switched off."""
        chosen = [mode for mode in modes or self._modes if mode in self._modes]
        if not chosen:
            raise InvalidInput(
                "search_modes",
                f"{', '.join(modes or ())} is switched off here; use {', '.join(self._modes)}",
            )
        return chosen


def _depth(needed: int) -> int:
    depth = MIN_DEPTH
    while depth < needed * 2:
        depth *= 2
    return depth


def _empty_result(query: str) -> HybridSearchResult:
    return {
        "query": query,
        "results": [],
        "count": 0,
        "fusion_method": FUSION,
        "search_modes_used": [],
        "fts_count": 0,
        "semantic_count": 0,
    }


def _ranking(
    query: str,
    fused: Sequence[FusedEntry],
    retrieved: Retrieved,
    count: int,
) -> Sequence[RankedEntry]:
    """Return the best candidates; without any the order of the fused ranks stands.

    An entry that only stands beside a found one has no ranks.
    """
    candidates = retrieved.candidates
    if not candidates:
        return [_ranked(entry, retrieved) for entry in fused[:count]]
    ranked = without_repeats(
        rank(query, candidates, calibration(retrieved.model), WEIGHTS, retrieved.period),
        {id_: each.text for id_, each in candidates.items()},
        count,
    )
    by_id = {entry.id: entry for entry in fused}
    unranked = (None,) * len(MODES)
    return [
        _ranked(by_id.get(each.id) or FusedEntry(each.id, 0.0, unranked), retrieved)
        for each in ranked
    ]


def _ranked(entry: FusedEntry, retrieved: Retrieved) -> RankedEntry:
    hit = retrieved[SEMANTIC].hits.get(entry.id) or retrieved[FTS].hits.get(entry.id)
    fts_rank, semantic_rank = entry.ranks
    scores = {
        "rrf": round(entry.score, SCORE_DIGITS),
        "fts_rank": fts_rank,
        "semantic_rank": semantic_rank,
        "fts_score": retrieved[FTS].score(entry.id),
        "semantic_distance": retrieved[SEMANTIC].score(entry.id),
    }
    return RankedEntry(entry.id, scores, hit.uuid if hit else None, hit.chunk if hit else 0)


def _stats(
    retrieved: Retrieved, mode: str, modes: Sequence[str], criteria: Criteria
) -> dict[str, Any] | None:
    """Return the statistics of one mode; None where it did not run."""
    if mode not in modes:
        return None
    result = retrieved[mode]
    return {
        "execution_time_ms": result.milliseconds,
        "filters_applied": count_filters(criteria),
        "rows_returned": len(result.hits),
        "backend": result.backend,
        "error": result.failure,
    }


def _fusion_stats(fused: Sequence[FusedEntry], k: int) -> dict[str, Any]:
    in_both = sum(None not in entry.ranks for entry in fused)
    by_words, by_meaning = (sum(entry.ranks[n] is not None for entry in fused) for n in (0, 1))
    return {
        "rrf_k": k,
        "total_unique_documents": len(fused),
        "documents_in_both": in_both,
        "documents_fts_only": by_words - in_both,
        "documents_semantic_only": by_meaning - in_both,
    }
