from services.core import sparse


def weights(vector: sparse.Sparse) -> dict[int, float]:
    return dict(zip(vector.indices, vector.values, strict=True))


def test_a_repeated_term_weighs_more_but_less_than_twice() -> None:
    (once,) = weights(sparse.document("cache")).values()
    (twice,) = weights(sparse.document("cache cache")).values()
    assert once < twice < 2 * once


def test_a_long_document_discounts_its_terms() -> None:
    short = sparse.document("cache")
    long = weights(sparse.document("cache " + "filler " * 500))
    assert long[short.indices[0]] < short.values[0]


def test_a_query_counts_each_term_once_and_meets_the_document() -> None:
    query = weights(sparse.query("caching caches"))
    assert list(query.values()) == [1.0]
    assert set(query) <= set(weights(sparse.document("a cache")))


def test_only_stop_words_give_an_empty_vector() -> None:
    assert sparse.query("what is the").indices == []
