"""BM25 as sparse vectors: term frequency here, inverse document frequency in Qdrant."""

from collections import defaultdict
from typing import NamedTuple
from zlib import crc32

from services.core.tokens import text_terms
from services.core.vectors.model import Sparse

K1 = 1.2  # how soon repeating a term stops paying: the usual BM25 value
B = 0.75  # how much long documents are discounted: the usual BM25 value
AVERAGE_TERMS = 150  # of a chunk of code; fixed, so that a vector does not depend on the rest


class Field(NamedTuple):
    """A text of a document, and how often each of its terms counts."""

    text: str
    weight: float


def document(text: str) -> Sparse:
    """Term weights of a text that is stored."""
    return fields_document(Field(text, 1.0))


def fields_document(*fields: Field) -> Sparse:
    """Term weights of a document of several fields, as one text in which some words count more."""
    counts: defaultdict[str, float] = defaultdict(float)
    for field in fields:
        for term in text_terms(field.text):
            counts[term] += field.weight
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / AVERAGE_TERMS)
    return _vector({term: n * (K1 + 1) / (n + norm) for term, n in counts.items()})


def query(text: str) -> Sparse:
    """Term weights of a question: each term counts once."""
    return _vector(dict.fromkeys(text_terms(text), 1.0))


def _vector(weights: dict[str, float]) -> Sparse:
    """Terms become 32-bit ids; the rare two that collide keep the larger weight."""
    by_id: dict[int, float] = {}
    for term, weight in weights.items():
        number = crc32(term.encode())
        by_id[number] = max(weight, by_id.get(number, 0.0))
    return Sparse(list(by_id), list(by_id.values()))
