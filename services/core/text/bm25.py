"""BM25 as sparse vectors: term frequency here, inverse document frequency in Qdrant."""

from collections import Counter
from itertools import chain
from typing import NamedTuple
from zlib import crc32

from services.core.text.tokens import TERM_CACHE_SIZE, terms, word_list
from services.core.vectors.types import Sparse

K1 = 1.2  # how soon repeating a term stops paying: the usual BM25 value
B = 0.75  # how much long documents are discounted: the usual BM25 value
AVERAGE_TERMS = 150  # of a chunk of code; fixed, so that a vector does not depend on the rest


class Field(NamedTuple):
    """A text of a document, and how often each of its terms counts."""

    text: str
    weight: float


def document(text: str, average: float = AVERAGE_TERMS) -> Sparse:
    """Term weights of a text that is stored, among texts of so many terms."""
    return fields_document(Field(text, 1.0), average=average)


def fields_document(*fields: Field, average: float = AVERAGE_TERMS) -> Sparse:
    """Term weights of a document of several fields, as one text in which some words count more."""
    counts: dict[int, float] = {}
    for field in fields:
        found = _occurrences(field.text)
        if not counts and field.weight == 1.0:
            counts = found
            continue
        for number, occurs in found.items():
            counts[number] = counts.get(number, 0.0) + occurs * field.weight
    norm = K1 * (1 - B + B * sum(counts.values()) / average)
    return Sparse(list(counts), [n * (K1 + 1) / (n + norm) for n in counts.values()])


def query(text: str) -> Sparse:
    """Term weights of a question: each term counts once."""
    numbers = list(_occurrences(text))
    return Sparse(numbers, [1.0] * len(numbers))


def _occurrences(text: str) -> dict[int, float]:
    """How often each term occurs."""
    return dict(Counter(chain.from_iterable(map(_numbers.__getitem__, word_list(text)))))


class _Numbers(dict[str, tuple[int, ...]]):
    """The terms of a word as 32-bit numbers; of 100,000 terms one pair may share a number."""

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= TERM_CACHE_SIZE:
            self.clear()
        numbers = self[word] = tuple(crc32(term.encode()) for term in terms.__wrapped__(word))
        return numbers


_numbers = _Numbers()
