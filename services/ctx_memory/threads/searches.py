"""Searches of one kind: by filters alone, by meaning, by words."""

import time
from collections.abc import Sequence
from functools import partial

from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.fulltext.query import TextMode, TextQuery
from ctx_memory.records.fulltext.search import TextHit, TextSearch
from ctx_memory.search.entry_search import EntryHit
from ctx_memory.search.pages import RankedEntry, RankedPages
from ctx_memory.search.report import SCORE_DIGITS, elapsed_ms
from ctx_memory.search.semantic import SemanticRetriever, l2_distance
from ctx_memory.threads.render import Results
from ctx_memory.threads.responses import SearchResult, SemanticSearchResult, TextSearchResult
from ctx_memory.threads.search_frame import PreparedSearch, SearchFrame, SearchPage
from ctx_memory.threads.search_request import SearchRequest, check_query


class Searches:
    """Runs `search_context`, `semantic_search_context` and `fts_search_context`."""

    def __init__(
        self,
        records: EntryRecords,
        texts: TextSearch,
        semantic: SemanticRetriever,
        pages: RankedPages,
        results: Results,
    ) -> None:
        self._records = records
        self._texts = texts
        self._semantic = semantic
        self._pages = pages
        self._results = results
        self._frame = SearchFrame(records)

    async def browse(self, request: SearchRequest) -> SearchResult:
        """Return the newest entries that pass the filters."""

        async def search(prepared: PreparedSearch) -> SearchPage:
            entries = await self._records.select(prepared.criteria, prepared.limit, prepared.offset)
            hits = await self._results.hits(entries, prepared.include_images)
            return SearchPage(hits, total=await self._records.count(prepared.criteria))

        result: SearchResult = {"results": [], "count": 0}
        return await self._frame.run(result, request, search)

    async def by_meaning(self, query: str, request: SearchRequest) -> SemanticSearchResult:
        """Return the entries nearest in meaning. Raises where Qdrant cannot be searched."""
        text = check_query(query, request.offset)

        async def search(prepared: PreparedSearch) -> SearchPage:
            start = time.perf_counter()
            embedding_ms = 0.0
            depth = self._pages.depth(prepared.offset, prepared.limit)

            async def nearest(vector: Sequence[float]) -> list[EntryHit]:
                nonlocal embedding_ms
                embedding_ms = elapsed_ms(start)
                return await self._semantic.nearest(vector, prepared.criteria, depth)

            hits = await self._semantic.with_vector(text, nearest)
            page = await self._pages.page(
                text,
                [_by_distance(hit) for hit in hits],
                prepared.criteria,
                prepared.limit,
                prepared.offset,
            )
            shown = await self._results.ranked_hits(page, prepared.include_images)
            return SearchPage(shown, page.warnings, {"embedding_generation_ms": embedding_ms})

        result: SemanticSearchResult = {
            "query": query,
            "results": [],
            "count": 0,
            "model": self._semantic.model,
        }
        return await self._frame.run(result, request, search)

    async def by_words(
        self, query: str, mode: TextMode, highlight: bool, request: SearchRequest
    ) -> TextSearchResult:
        """Return the entries that full-text search ranks best."""
        text = check_query(query, request.offset)
        asked = TextQuery(text, mode)

        async def search(prepared: PreparedSearch) -> SearchPage:
            # Without a reranker SQL skips the entries before the page.
            skipped = 0 if self._pages.reranks else prepared.offset
            depth = self._pages.depth(prepared.offset, prepared.limit)
            hits, warnings = await self._texts.find(
                asked, prepared.criteria, depth - skipped, skipped, highlight=highlight
            )
            page = await self._pages.page(
                text,
                [_by_score(hit) for hit in hits],
                prepared.criteria,
                prepared.limit,
                prepared.offset - skipped,
            )
            shown = await self._results.ranked_hits(page, prepared.include_images)
            if highlight:
                fragments = {hit.entry.id: hit.highlighted for hit in hits}
                for hit in shown:
                    hit["highlighted"] = fragments[hit["id"]]
            plan = partial(
                self._texts.explain,
                asked,
                prepared.criteria,
                depth - skipped,
                skipped,
            )
            return SearchPage(shown, [*warnings, *page.warnings], plan=plan)

        result: TextSearchResult = {
            "query": query,
            "results": [],
            "count": 0,
            "mode": mode.value,
            "language": self._texts.language,
            "fts_available": True,
        }
        return await self._frame.run(result, request, search)


def _by_distance(hit: EntryHit) -> RankedEntry:
    distance = round(l2_distance(hit.score), SCORE_DIGITS)
    scores = {"semantic_distance": distance, "semantic_rank": None}
    return RankedEntry(hit.id, scores, hit.uuid, hit.chunk)


def _by_score(hit: TextHit) -> RankedEntry:
    scores = {"fts_score": round(hit.score, SCORE_DIGITS), "fts_rank": None}
    return RankedEntry(hit.entry.id, scores, entry=hit.entry)
