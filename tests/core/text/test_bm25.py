"""BM25 vectors."""

from ctx_core.text import bm25
from ctx_core.vectors.points import Sparse


def weights(vector: Sparse) -> dict[int, float]:
    return dict(zip(vector.indices, vector.values, strict=True))


def test_a_repeated_term_weighs_more_but_less_than_twice() -> None:
    (once,) = weights(bm25.document_vector("cache")).values()
    (twice,) = weights(bm25.document_vector("cache cache")).values()
    assert once < twice < 2 * once


def test_a_long_document_discounts_its_terms() -> None:
    short = bm25.document_vector("cache")
    long = weights(bm25.document_vector("cache " + "filler " * 500))
    assert long[short.indices[0]] < short.values[0]


def test_a_query_counts_each_term_once_and_meets_the_document() -> None:
    query = weights(bm25.query_vector("caching caches"))
    assert list(query.values()) == [1.0]
    assert set(query) <= set(weights(bm25.document_vector("a cache")))


def test_only_stop_words_give_an_empty_vector() -> None:
    assert bm25.query_vector("what is the").indices == []
