"""Whether the vectors of a point in Qdrant are those that we would write."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ctx_core.vectors.points import Point, Sparse
from ctx_core.vectors.specs import BM25, DENSE

LEAST_COSINE = 0.999  # a cached vector has half the bits, which keeps 99.99 % of its direction
WEIGHT_TOLERANCE = 1e-4  # of a term, beside what it weighs


def unlike(expected: Point, vectors: Mapping[str, Any]) -> str:
    """Return how the vectors of a point differ, in words; nothing where they are alike."""
    if expected.vectors.keys() != vectors.keys():
        return "have other vectors"
    if DENSE in vectors and not _same_direction(expected.vectors[DENSE], vectors[DENSE]):
        return "have another dense vector"
    if BM25 in vectors and not _same_terms(expected.vectors[BM25], vectors[BM25]):
        return "have other terms"
    return ""


def _same_direction(expected: Any, found: Any) -> bool:
    lengths = float(np.linalg.norm(expected) * np.linalg.norm(found))
    return lengths > 0 and float(np.dot(expected, found)) / lengths >= LEAST_COSINE


def _same_terms(expected: Any, found: Mapping[str, Any]) -> bool:
    assert isinstance(expected, Sparse)
    wanted = dict(zip(expected.indices, expected.values, strict=True))
    given = dict(zip(found["indices"], found["values"], strict=True))
    return wanted.keys() == given.keys() and all(
        abs(given[term] - weight) <= WEIGHT_TOLERANCE * abs(weight)
        for term, weight in wanted.items()
    )
