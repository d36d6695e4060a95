"""How surely retrieval found the answer: calibrated on questions with and without one.

The weights come from a logistic regression over questions that the code of sixteen public
projects answers, and over questions that it does not: of other fields, near the topic, and of the
other projects (docs/benchmarks.md).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctx_core.blocking import COMPUTE
from ctx_core.text import bm25
from ctx_core.text.tokens import text_terms
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Query
from ctx_core.vectors.specs import BM25
from ctx_indexer.answers.inquiry import Inquiry
from ctx_indexer.answers.sources import Span
from ctx_indexer.search.rerank import bounded

READ_SPANS = 5
READ_CHARACTERS = 4_000  # of each: a long class holds every word
COMMON = 30  # chunks that hold a term; one that more have says little of the topic
COMMON_WEIGHT = 0.7
MAX_TERMS = 40  # of a question; each is a query of the store
NOT_FOUND = 0.1  # below it is no long question that has an answer, and 2 % of short ones
WEAK = 0.5


class _Weights(NamedTuple):
    """Of the share of the question's terms that the best spans have, the share that no chunk has,
    the best rank score, the best cosine, and the logarithm of the number of terms."""

    covered: float
    unknown: float
    score: float
    cosine: float
    length: float
    bias: float


MEANING_AND_WORDS = _Weights(4.2, -2.3, 15.9, 6.3, 1.4, -18.4)
WORDS = _Weights(5.2, -3.2, 19.4, 0.0, 1.4, -18.5)  # cosines of another model mean something else


async def confidence(
    store: VectorStore, inquiry: Inquiry, spans: Sequence[Span], *, by_meaning: bool
) -> float:
    """Return how likely the spans answer the question, from 0 to 1.

    `by_meaning`: the cosines are those of the model that the weights were fitted with.
    """
    terms = sorted(inquiry.query.terms)[:MAX_TERMS]
    if not terms or not inquiry.hits:
        return 1.0 if inquiry.hits else 0.0
    frequencies = await _frequencies(store, inquiry, terms)
    best = max(bounded(hit.ranked.score) for hit in inquiry.hits)
    cosine = max(hit.ranked.candidate.dense for hit in inquiry.hits)
    seen = _Signs(best, cosine if by_meaning else None)
    return await COMPUTE.run(_estimate, terms, spans, frequencies, seen)


class _Signs(NamedTuple):
    """The best rank score of the hits, and the best cosine where its scale is known."""

    score: float
    cosine: float | None


def _estimate(
    terms: Sequence[str], spans: Sequence[Span], frequencies: Mapping[str, int], seen: _Signs
) -> float:
    """Estimate the confidence from spans; `frequencies` count the chunks with a term."""
    by = WORDS if seen.cosine is None else MEANING_AND_WORDS
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
    total = by.bias + by.covered * covered + by.unknown * unknown + by.score * seen.score
    total += by.cosine * (seen.cosine or 0.0) + by.length * math.log(len(terms))
    return 1 / (1 + math.exp(-total))


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
    where = inquiry.view.narrowed()
    queries = [
        Query(BM25, vector, COMMON, filter=where, with_payload=False) for vector in known.values()
    ]
    batches = await store.query_batch(inquiry.view.collection, queries) if queries else []
    return {term: len(hits) for term, hits in zip(known, batches, strict=True)}
