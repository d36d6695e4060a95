"""Encode texts as BM25 vectors: term frequency here, inverse document frequency in Qdrant."""

from collections import Counter
from itertools import chain
from typing import NamedTuple
from zlib import crc32

from ctx_core.text.tokens import TERM_CACHE_SIZE, terms, word_list
from ctx_core.vectors.points import Sparse

K1 = 1.2  # how soon repeating a term stops adding weight: the usual BM25 value
B = 0.75  # how much long documents are discounted: the usual BM25 value
AVERAGE_TERMS = 150  # of a chunk of code; fixed, so that a vector depends on its text alone


class Field(NamedTuple):
    """One text of a document, and the weight of an occurrence of a term in it."""

    text: str
    weight: float


def document_vector(text: str, average: float = AVERAGE_TERMS) -> Sparse:
    """Return the vector of a stored text; `average` is the number of terms of such texts."""
    return fields_vector(Field(text, 1.0), average=average)


def fields_vector(*fields: Field, average: float = AVERAGE_TERMS) -> Sparse:
    """Return the vector of a document with several fields, whose terms count by their weight."""
    counts: dict[int, float] = {}
    for field in fields:
        occurrences = _occurrences(field.text)
        if not counts and field.weight == 1.0:
            counts = occurrences
            continue
        for term_id, occurs in occurrences.items():
            counts[term_id] = counts.get(term_id, 0.0) + occurs * field.weight
    norm = K1 * (1 - B + B * sum(counts.values()) / average)
    return Sparse(list(counts), [n * (K1 + 1) / (n + norm) for n in counts.values()])


def query_vector(text: str) -> Sparse:
    """Return the vector of a query: each term counts once."""
    term_ids = list(_occurrences(text))
    return Sparse(term_ids, [1.0] * len(term_ids))


def _occurrences(text: str) -> dict[int, float]:
    """Return how often each term occurs, by term id."""
    return dict(Counter(chain.from_iterable(map(_term_ids.__getitem__, word_list(text)))))


class _TermIds(dict[str, tuple[int, ...]]):
    """A cache of the terms of a word as 32-bit hashes; of 100,000 terms one pair may collide."""

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= TERM_CACHE_SIZE:
            self.clear()
        term_ids = self[word] = tuple(crc32(term.encode()) for term in terms.__wrapped__(word))
        return term_ids


_term_ids = _TermIds()
