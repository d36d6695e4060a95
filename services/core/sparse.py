"""BM25 as sparse vectors: term frequency here, inverse document frequency in Qdrant."""

from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from services.core.tokens import TERM_CACHE_SIZE, terms, word_counts
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
    counts: dict[int, float] = {}
    for field in fields:
        for word, occurs in word_counts(field.text).items():
            for number in _numbers(word):
                counts[number] = counts.get(number, 0.0) + occurs * field.weight
    norm = K1 * (1 - B + B * sum(counts.values()) / AVERAGE_TERMS)
    return Sparse(list(counts), [n * (K1 + 1) / (n + norm) for n in counts.values()])


def query(text: str) -> Sparse:
    """Term weights of a question: each term counts once."""
    numbers = dict.fromkeys(n for word in word_counts(text) for n in _numbers(word))
    return Sparse(list(numbers), [1.0] * len(numbers))


@lru_cache(maxsize=TERM_CACHE_SIZE)
def _numbers(word: str) -> tuple[int, ...]:
    """The terms of a word as 32-bit numbers; of 100,000 terms one pair may share a number."""
    return tuple(crc32(term.encode()) for term in terms(word))
