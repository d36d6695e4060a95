"""How surely retrieval found the answer: calibrated on questions with and without one.

The weights are those of a logistic regression over 225 questions that the code of four public
projects answers and 54 that it does not, half of these near its topic (docs/benchmarks.md).
"""

import math
from collections.abc import Mapping, Sequence

from services.core.blocking import COMPUTE
from services.core.text import bm25
from services.core.text.tokens import text_terms
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import BM25, Prefetch, Query
from services.indexer.answers.retrieval import Inquiry
from services.indexer.answers.sources import Span
from services.indexer.search.rerank import bounded

READ_SPANS = 5
READ_CHARACTERS = 4_000  # of each: a long class holds every word
COMMON = 30  # chunks that hold a term; one that more have says little of the topic
COMMON_WEIGHT = 0.7
MAX_TERMS = 40  # of a question; each is a query of the store
# Of the share of the question's terms that the best spans have, the share that no chunk has, and
# the best rank score.
COVERED, UNKNOWN, SCORE, BIAS = 5.4, -3.5, 20.4, -15.1
NOT_FOUND = 0.27  # below it, of the questions that have an answer, 4 % are
WEAK = 0.5


async def confidence(store: VectorStore, inquiry: Inquiry, spans: Sequence[Span]) -> float:
    """Return how likely the spans answer the question, from 0 to 1."""
    terms = sorted(inquiry.query.terms)[:MAX_TERMS]
    if not terms or not inquiry.hits:
        return 1.0 if inquiry.hits else 0.0
    frequencies = await _frequencies(store, inquiry, terms)
    best = max(bounded(hit.ranked.score) for hit in inquiry.hits)
    return await COMPUTE.run(estimate, terms, spans, frequencies, best)


def estimate(
    terms: Sequence[str], spans: Sequence[Span], frequencies: Mapping[str, int], score: float
) -> float:
    """Estimate the confidence from what was found; `frequencies` count the chunks with a term."""
    found = {
        term
        for span in spans[:READ_SPANS]
        for term in text_terms(
            f"{span.path} {span.definition.symbol} {span.text[:READ_CHARACTERS]}"
        )
    }
    weights = {term: _weight(frequencies.get(term, 0)) for term in terms}
    covered = sum(weights[term] for term in terms if term in found) / sum(weights.values())
    unknown = sum(not frequencies.get(term, 0) for term in terms) / len(terms)
    return 1 / (1 + math.exp(-(COVERED * covered + UNKNOWN * unknown + SCORE * score + BIAS)))


def _weight(frequency: int) -> float:
    """Weigh a term by how few chunks have it."""
    if frequency >= COMMON:
        return COMMON_WEIGHT
    return math.log(1 + (COMMON + 1) / (1 + frequency))


async def _frequencies(
    store: VectorStore, inquiry: Inquiry, terms: Sequence[str]
) -> dict[str, int]:
    """Count the chunks that have each term, up to COMMON."""
    vectors = {term: bm25.query_vector(term) for term in terms}
    known = {term: vector for term, vector in vectors.items() if vector.indices}
    where = inquiry.scope.viewed()
    queries = [
        Query([Prefetch(BM25, vector, COMMON)], limit=COMMON, filter=where, with_payload=False)
        for vector in known.values()
    ]
    batches = await store.query_batch(inquiry.collection, queries) if queries else []
    return {term: len(hits) for term, hits in zip(known, batches, strict=True)}
