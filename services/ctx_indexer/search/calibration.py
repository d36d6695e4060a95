"""How surely a hit answers its query: a share that means the same for every query and repo."""

import math
from collections.abc import Sequence

from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.searcher import SearchHit

DIGITS = 4
LOWEST = 0.0001  # a result has a score above 0, however little it fits
# Of a logistic regression that scripts.bench.quality.calibration fitted on questions which the
# repository can answer and on those of another one; see docs/benchmarks.md.
WEIGHTS = (-5.329, 3.837, 3.658, -0.703, 1.771)


def signs(
    hits: Sequence[SearchHit], query: ParsedQuery, chunk_count: int
) -> list[tuple[float, ...]]:
    """Return the signs for each hit: cosine, words, share of the best score, matching names.

    BM25 scores grow with the number of terms, and with the rarity that many chunks allow.
    """
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    most_words = max(len(query.terms), 1) * math.log(2 + chunk_count)
    return [
        (
            max(hit.ranked.candidate.dense, 0.0),
            max(hit.ranked.candidate.lexical, 0.0) / most_words,
            hit.score / best,
            hit.ranked.rules.get("name_match", 1.0) - 1.0,
        )
        for hit in hits
    ]


def confidences(hits: Sequence[SearchHit], query: ParsedQuery, chunk_count: int) -> list[float]:
    """Return for each hit, from 0 to 1, how surely it answers its query."""
    first, *rest = WEIGHTS
    totals = [
        first + sum(weight * sign for weight, sign in zip(rest, each, strict=True))
        for each in signs(hits, query, chunk_count)
    ]
    return [max(LOWEST, round((1.0 + math.tanh(each / 2.0)) / 2.0, DIGITS)) for each in totals]
