"""Searching code: candidates from Qdrant, ranked, and shown."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from services.core.embedding.protocol import Embedder
from services.core.engine.query_model import QueryModel, QueryModelResolver
from services.core.errors import TimedOut
from services.core.text import bm25
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import (
    BM25,
    DENSE,
    Filter,
    Hit,
    MatchAny,
    Prefetch,
    Query,
)
from services.indexer.schema.points import facts, spec
from services.indexer.search.feature_cache import FeatureCache
from services.indexer.search.filters import SearchFilters
from services.indexer.search.query import ParsedQuery
from services.indexer.search.ranking import (
    DEFAULT,
    Candidate,
    Ranked,
    Weights,
    merged,
    rank,
    select,
    words_of,
)
from services.indexer.search.rerank import CodeReranker, SearchHit
from services.indexer.search.word_similarity import WordSimilarity

DEPTH = 100  # candidates a leg gives: 60 cost quality on the benchmark, 200 gained none
DEFINITIONS = 30  # of a name that the query says; common names have many


@dataclass(frozen=True)
class Request:
    """What to search for, where, and how much of it."""

    questions: Sequence[ParsedQuery]
    scope: SearchFilters = field(default_factory=SearchFilters)
    limit: int = 10
    per_path: int = 2
    rerank: bool | None = None  # None: when a reranker is configured
    rerank_top_n: int = 50
    rerank_return_m: int = 12


@dataclass(frozen=True)
class Outcome:
    """The results, how many there were before the limit, and what went otherwise than asked."""

    results: Sequence[SearchHit]
    total: int
    used_rerank: bool = False
    degraded: Sequence[str] = ()


class Searcher:
    """Searches collections of code with one model and one set of weights."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        weights: Weights = DEFAULT,
        second: CodeReranker | None = None,
        models: QueryModelResolver | None = None,
    ) -> None:
        """`models` says with which one a collection is asked that is being rebuilt."""
        self._store = store
        self._spec = spec(embedder)
        self._models = models or QueryModelResolver(store, embedder)
        self._weights = weights
        self._second = second
        self._chunks = FeatureCache(store)
        self._near = WordSimilarity(embedder)

    async def search(self, collection: str, request: Request) -> Outcome:
        """Of a collection that is being rebuilt with another model, with its own."""

        async def work(model: QueryModel) -> Outcome:
            found = await self._search(collection, request, model.embedder)
            return replace(found, degraded=[*model.degraded, *found.degraded])

        return await self._models.ask(collection, self._spec, work)

    async def _search(
        self, collection: str, request: Request, embedder: Embedder | None
    ) -> Outcome:
        question = merged(request.questions)
        candidates = await self._candidates(collection, request, embedder)
        near = await self._near.to(question, words_of(candidates))
        ranked = rank(candidates, question, near, self._weights)
        wanted = request.rerank if request.rerank is not None else self._second is not None
        if not wanted:
            chosen = select(ranked, request.limit, request.per_path, self._weights)
            return Outcome(await self._read(collection, chosen), len(ranked))
        return await self._reranked(collection, question, ranked, request)

    async def _reranked(
        self, collection: str, question: ParsedQuery, ranked: Sequence[Ranked], request: Request
    ) -> Outcome:
        """The best candidates read again by the reranker; without it the order stays."""
        depth = max(request.rerank_top_n, request.limit)
        chosen = select(ranked, depth, request.per_path, self._weights)
        found = await self._read(collection, chosen)
        limit = min(request.limit, request.rerank_return_m)
        if self._second is None:
            reason = "rerank: no reranker is configured (RERANK_MODEL)"
            return Outcome(found[: request.limit], len(ranked), degraded=[reason])
        try:
            best = await self._second.reordered(question, found)
        except TimedOut as error:
            return Outcome(found[:limit], len(ranked), degraded=[f"rerank: {error.message}"])
        return Outcome(best[:limit], len(ranked), used_rerank=True)

    async def _candidates(
        self, collection: str, request: Request, embedder: Embedder | None
    ) -> list[Candidate]:
        """Every leg of every question in one call; what is not known of the chunks in another."""
        queries: list[Query] = []
        for question in request.questions:
            scope = request.scope.narrowed(question.filters)
            where = await scope.filter(self._store, collection)
            queries += _queries(question, await _embedded(embedder, question), where)
        answers = await self._store.query_batch(collection, queries) if queries else []
        scores = _scores(queries, answers)
        ids = {name for best in scores.values() for name in best}
        known = await self._chunks.of(collection, ids)
        return [
            Candidate(name, chunk, scores[DENSE].get(name, 0.0), scores[BM25].get(name, 0.0))
            for name, chunk in known.items()
        ]

    async def _read(self, collection: str, chosen: Sequence[Ranked]) -> list[SearchHit]:
        records = await self._store.retrieve(collection, [item.candidate.id for item in chosen])
        payloads = {record.id: facts(record.payload) for record in records}
        return [
            SearchHit(item, payloads[item.candidate.id])
            for item in chosen
            if item.candidate.id in payloads
        ]


async def _embedded(embedder: Embedder | None, question: ParsedQuery) -> list[float] | None:
    if embedder is None:
        return None
    vector: list[float] = (await asyncio.to_thread(embedder.embed_query, question.text)).tolist()
    return vector


def _queries(
    question: ParsedQuery, dense: Sequence[float] | None, where: Filter | None
) -> list[Query]:
    """Without a dense vector words are all there is, of the definitions too."""
    prefetch = [Prefetch(DENSE, dense, DEPTH)] if dense is not None else []
    lexical = bm25.query(question.text)
    if lexical.indices:
        prefetch.append(Prefetch(BM25, lexical, DEPTH))
    queries = [Query([leg], limit=DEPTH, filter=where, with_payload=False) for leg in prefetch]
    if question.names and queries:
        named = MatchAny("symbols", [name.lower() for name in question.names])
        narrowed = Filter(must=[named, where] if where else [named])
        queries.append(replace(queries[0], limit=DEFINITIONS, filter=narrowed))
    return queries


def _scores(
    queries: Sequence[Query], answers: Sequence[Sequence[Hit]]
) -> dict[str, dict[str, float]]:
    """Each chunk's best score of each kind."""
    scores: dict[str, dict[str, float]] = {DENSE: {}, BM25: {}}
    for query, hits in zip(queries, answers, strict=True):
        best = scores[query.prefetch[0].using]
        for hit in hits:
            best[hit.id] = max(hit.score, best.get(hit.id, 0.0))
    return scores
