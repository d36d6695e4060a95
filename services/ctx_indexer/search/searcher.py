"""Searches code: candidates from the store, ranked, read, and reranked where configured."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ctx_core.embedding.protocol import Embedder
from ctx_core.engine.query_model import QueryModel, QueryModelResolver
from ctx_core.errors import TimedOut
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.schema.features import Features
from ctx_indexer.schema.payload import ChunkPayload, decode, embedding_text
from ctx_indexer.schema.points import spec
from ctx_indexer.search.candidates import CandidateFinder
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import (
    ParsedQuery,
    merge_queries,
    words_as_written,
)
from ctx_indexer.search.ranking import rank
from ctx_indexer.search.rerank import CodeReranker, RerankScore, bounded
from ctx_indexer.search.rules import Ranked, name_words
from ctx_indexer.search.selection import cut_off, holding_code, select, uncertain_hits
from ctx_indexer.search.weights import DEFAULT, Weights, weights_of_mode
from ctx_indexer.search.word_similarity import WordSimilarity
from ctx_indexer.view.view import View

MAX_HITS = 100  # that a search reaches, however large its limit


@dataclass(frozen=True)
class SearchRequest:
    """The queries, filters and sizes of a search. `rerank` None: where a reranker is configured.

    With `reads_all` every hit that a larger limit reaches is read too, with `counts` as many as
    counting all takes. `mode` puts code or documentation first; with `case_sensitive` a
    hit holds a word of the query as it is written.
    """

    queries: Sequence[ParsedQuery]
    filters: SearchFilters = field(default_factory=SearchFilters)
    limit: int = 10
    per_path: int = 2
    rerank: bool | None = None
    rerank_top_n: int = 50
    rerank_return_m: int = 12
    rerank_seconds: float | None = None
    reads_all: bool = False
    counts: bool = False
    mode: str | None = None
    case_sensitive: bool = False

    @cached_property
    def query(self) -> ParsedQuery:
        """The query that ranks the hits: all queries as one."""
        return merge_queries(self.queries)


@dataclass(frozen=True)
class SearchHit:
    """A ranked chunk with its payload, and its scores by the reranker where it was read."""

    ranked: Ranked
    chunk: ChunkPayload
    rerank: RerankScore | None = None

    @property
    def score(self) -> float:
        """Between 0 and 1, in the order of the hits."""
        return self.rerank.blended if self.rerank else bounded(self.ranked.score)


@dataclass(frozen=True)
class SearchResult:
    """The hits, and why the search was degraded.

    A larger limit reaches `rest` and `unread` too: hits that were read to count definitions, and
    the files of hits that are one definition each. `left_out` counts hits that are not worth
    reading, `left_out_for` says why; `more` has, for each file of the hits, other places of it that
    fit the query.
    """

    hits: Sequence[SearchHit]
    rest: Sequence[SearchHit] = ()
    unread: Sequence[tuple[str, str]] = ()
    left_out: int = 0
    left_out_for: str = ""
    more: Mapping[tuple[str, str], Sequence[Features]] = field(default_factory=dict)
    used_rerank: bool = False
    degraded: Sequence[str] = ()


class Searcher:
    """Searches collections of code with one model and one set of weights."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        weights: Weights = DEFAULT,
        reranker: CodeReranker | None = None,
        models: QueryModelResolver | None = None,
    ) -> None:
        """`models` resolves the model of a collection that is being rebuilt."""
        self._store = store
        self._spec = spec(embedder)
        self._models = models or QueryModelResolver(store, embedder)
        self._weights = weights
        self._reranker = reranker
        self._candidates = CandidateFinder(store)
        self._similarity = WordSimilarity(embedder)

    async def search(self, view: View, request: SearchRequest) -> SearchResult:
        """Search a view; a collection that is being rebuilt, with the model it was built with.

        Raises CollectionNotFound, ModelMismatch, InvalidInput for a collection of something else.
        """

        async def search_with(model: QueryModel) -> SearchResult:
            result = await self._search(view, request, model.embedder)
            return replace(result, degraded=[*model.degraded, *result.degraded])

        return await self._models.ask(view.collection, self._spec, search_with)

    async def _search(
        self, view: View, request: SearchRequest, embedder: Embedder | None
    ) -> SearchResult:
        query, collection = request.query, view.collection
        candidates = await self._candidates.find(
            view, request.queries, query, request.filters, embedder
        )
        similarity = await self._similarity.compare(query, name_words(candidates))
        weights = weights_of_mode(request.mode, self._weights)
        ranked = rank(candidates, query, similarity, weights)
        rerank = self._reranker is not None if request.rerank is None else request.rerank
        if rerank:
            return await self._rerank(collection, query, ranked, request)
        selected = select(ranked, MAX_HITS, request.per_path, weights)
        narrow = any(request.filters.with_inline(each.filters).narrow for each in request.queries)
        near = selected if narrow else cut_off(selected, weights)
        kept = holding_code(near, query)
        first, rest = _to_read(kept, request)
        hits = await self._read(collection, [*first, *rest], request)
        ids = {item.candidate.id for item in first}
        counted = ids | {item.candidate.id for item in rest}
        return SearchResult(
            [hit for hit in hits if hit.ranked.candidate.id in ids],
            [hit for hit in hits if hit.ranked.candidate.id not in ids],
            [item.candidate.file for item in kept if item.candidate.id not in counted],
            left_out=len(selected) - len(kept),
            left_out_for="far below the first" if kept == near else f"without {query.text}",
            more=_more_in_files(ranked, kept[: request.limit], weights),
        )

    async def _rerank(
        self,
        collection: str,
        query: ParsedQuery,
        ranked: Sequence[Ranked],
        request: SearchRequest,
    ) -> SearchResult:
        """Reorder the best hits by the reranker; without one, or too late, the order stays."""
        depth = max(request.rerank_top_n, request.rerank_return_m)
        if self._reranker is None:
            depth = MAX_HITS
        selected = select(ranked, depth, request.per_path, self._weights)
        hits = await self._read(collection, selected, request)
        if self._reranker is None:
            reason = "rerank: no reranker is configured (RERANK_MODEL)"
            return _page(hits, request, degraded=[reason])
        texts = [embedding_text(hit.chunk) for hit in hits]
        try:
            scores = await self._reranker.score(
                query, [hit.ranked for hit in hits], texts, request.rerank_seconds
            )
        except TimedOut as error:
            reason = f"rerank: {error.message}"
            return _page(hits[: request.rerank_return_m], request, degraded=[reason])
        rescored = [replace(hit, rerank=score) for hit, score in zip(hits, scores, strict=True)]
        best = sorted(rescored, key=lambda hit: -hit.score)
        return _page(best[: request.rerank_return_m], request, used_rerank=True)

    async def _read(
        self, collection: str, selected: Sequence[Ranked], request: SearchRequest
    ) -> list[SearchHit]:
        """Read the payloads of ranked chunks; one deleted meanwhile is left out."""
        records = await self._store.retrieve(collection, [item.candidate.id for item in selected])
        chunks = {record.id: decode(record.payload) for record in records}
        hits = [
            SearchHit(item, chunks[item.candidate.id])
            for item in selected
            if item.candidate.id in chunks
        ]
        if not request.case_sensitive:
            return hits
        written = words_as_written(request.query)
        return [hit for hit in hits if written is None or written.search(hit.chunk.text)]


def _page(hits: Sequence[SearchHit], request: SearchRequest, **details: Any) -> SearchResult:
    """Divide hits that are all read."""
    reach = len(hits) if request.reads_all else request.limit
    return SearchResult(hits[:reach], hits[reach:], **details)


def _to_read(
    kept: Sequence[Ranked], request: SearchRequest
) -> tuple[Sequence[Ranked], Sequence[Ranked]]:
    """Return the hits to show, and further hits that have to be read to count the results.

    All are shown where a name or a filter of definitions may put one of the last hits first.
    """
    filters = [request.filters.with_inline(each.filters) for each in request.queries]
    query = request.query
    by_name = query.is_symbol or any(each.kinds or each.symbols for each in filters)
    if request.reads_all or (request.counts and (by_name or request.case_sensitive)):
        return kept, ()
    first, rest = kept[: request.limit], kept[request.limit :]
    if not request.counts:
        return first, ()
    uncertain = uncertain_hits(kept, query)
    return first, [item for item in rest if item.candidate.id in uncertain]


def _more_in_files(
    ranked: Sequence[Ranked], shown: Sequence[Ranked], weights: Weights
) -> dict[tuple[str, str], list[Features]]:
    """Return, for each file of the hits, its chunks that fit the query and are no hit."""
    files = {item.candidate.file for item in shown}
    ids = {item.candidate.id for item in shown}
    more: dict[tuple[str, str], list[Features]] = defaultdict(list)
    for item in cut_off(ranked, weights):
        if item.candidate.file in files and item.candidate.id not in ids:
            more[item.candidate.file].append(item.candidate.features)
    return dict(more)
