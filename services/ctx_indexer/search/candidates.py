"""Finds the candidates of a search in the store: by meaning, by words, by names and literals."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.protocol import Embedder
from ctx_core.text import bm25
from ctx_core.vectors.points import Hit, Vector
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match, MatchAny, Query
from ctx_core.vectors.specs import BM25, DENSE
from ctx_indexer.schema.fields import IS_DOCS, SYMBOLS
from ctx_indexer.schema.payload import decode
from ctx_indexer.search.feature_cache import FeatureCache
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import ParsedQuery, is_code, written_as
from ctx_indexer.search.rules import CHANGELOG_WORDS, Candidate, is_changelog
from ctx_indexer.view.view import View

DEPTH = 100  # candidates per vector: 60 cost quality on the benchmark, 200 gained none
RARE_LITERAL = 3  # chunks that hold an identifier; one that more have says less of the topic
CODE_LITERAL = 2.0  # a constant, header, option or error code is the query's topic
MAX_LITERALS = 4  # of a query; each is a query of the store
MAX_DEFINITIONS = 30  # candidates that define a name of the query; common names have many


class CandidateFinder:
    """Finds the chunks of a view that a search ranks, and reads their features."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._features = FeatureCache(store)

    async def find(
        self,
        view: View,
        queries: Sequence[ParsedQuery],
        merged: ParsedQuery,
        filters: SearchFilters,
        embedder: Embedder | None,
    ) -> list[Candidate]:
        """Find the candidates of all queries in one batch; by words alone without an embedder."""
        collection = view.collection
        store_queries: list[Query] = []
        for query in queries:
            own = await filters.with_inline(query.filters).store_filter(self._store, view)
            store_queries += _store_queries(query, await _embed(embedder, query), own)
        if not store_queries:
            return []
        where = store_queries[0].filter
        batches = await self._store.query_batch(collection, store_queries)
        scores = _best_scores(store_queries, batches)
        literals = await self._literals(collection, merged.literals, where)
        ids = {chunk_id for best in scores.values() for chunk_id in best} | literals.keys()
        changelogs = await self._changelogs(collection, where) if merged.asks_changes else {}
        features = await self._features.get(collection, ids | changelogs.keys())
        for chunk_id in changelogs.keys() - ids:
            if not is_changelog(features[chunk_id]):
                del features[chunk_id]
        dense, lexical = scores[DENSE], changelogs | scores[BM25]
        return [
            Candidate(
                chunk_id,
                chunk,
                dense.get(chunk_id, 0.0),
                lexical.get(chunk_id, 0.0),
                literals.get(chunk_id, 0.0),
            )
            for chunk_id, chunk in features.items()
        ]

    async def _changelogs(self, collection: str, where: Filter | None) -> dict[str, float]:
        """Return chunks that may be of a changelog."""
        words = bm25.query_vector(" ".join(sorted(CHANGELOG_WORDS)))
        docs = Filter(must=[Match(IS_DOCS, True), where] if where else [Match(IS_DOCS, True)])
        query = Query(BM25, words, DEPTH, filter=docs, with_payload=False)
        [hits] = await self._store.query_batch(collection, [query])
        return {hit.id: hit.score for hit in hits}

    async def _literals(
        self, collection: str, literals: Sequence[str], where: Filter | None
    ) -> dict[str, float]:
        """Return the chunks that hold literals, and the share that each holds.

        BM25 finds chunks with the words of a literal; their texts decide.
        """
        vectors = {each: bm25.query_vector(each) for each in literals[:MAX_LITERALS]}
        known = {literal: vector for literal, vector in vectors.items() if vector.indices}
        wanted = [Query(BM25, vector, DEPTH, filter=where) for vector in known.values()]
        batches = await self._store.query_batch(collection, wanted) if wanted else []
        shares: dict[str, float] = defaultdict(float)
        for literal, hits in zip(known, batches, strict=True):
            written = written_as(literal)
            holding = [hit.id for hit in hits if written.search(decode(hit.payload).text)]
            rarity = min(1.0, RARE_LITERAL / max(len(holding), 1))
            strength = CODE_LITERAL if is_code(literal) else rarity
            for chunk_id in holding:
                shares[chunk_id] += strength / len(literals)
        return dict(shares)


async def _embed(embedder: Embedder | None, query: ParsedQuery) -> list[float] | None:
    if embedder is None:
        return None
    vector: list[float] = (await COMPUTE.run(embedder.embed_query, query.text)).tolist()
    return vector


def _store_queries(
    query: ParsedQuery, dense: Sequence[float] | None, where: Filter | None
) -> list[Query]:
    """Build the queries by dense vector, by BM25, and for definitions of the query's names.

    Definitions are found by the dense vector, or by BM25 where the query has none.
    """
    vectors: list[tuple[str, Vector]] = [(DENSE, dense)] if dense is not None else []
    lexical = bm25.query_vector(query.text)
    if lexical.indices:
        vectors.append((BM25, lexical))
    queries = [
        Query(name, vector, DEPTH, filter=where, with_payload=False) for name, vector in vectors
    ]
    if query.names and queries:
        qualified = query.is_symbol and len(query.names) > 1
        names = query.names[:1] if qualified else query.names
        defines = MatchAny(SYMBOLS, [name.lower() for name in names])
        narrowed = Filter(must=[defines, where] if where else [defines])
        limit = DEPTH if qualified else MAX_DEFINITIONS
        queries.append(replace(queries[0], limit=limit, filter=narrowed))
    return queries


def _best_scores(
    queries: Sequence[Query], batches: Sequence[Sequence[Hit]]
) -> dict[str, dict[str, float]]:
    """Return the best score of each chunk by each vector."""
    scores: dict[str, dict[str, float]] = {DENSE: {}, BM25: {}}
    for query, hits in zip(queries, batches, strict=True):
        best = scores[query.using]
        for hit in hits:
            best[hit.id] = max(hit.score, best.get(hit.id, 0.0))
    return scores
