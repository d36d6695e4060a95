"""Words of one meaning are similar."""

from collections.abc import Sequence

import pytest

from ctx_indexer.search import word_similarity
from ctx_indexer.search.query import parse_query
from ctx_indexer.search.word_similarity import WordSimilarity, equal_stems
from tests.support.fakes import Counting, shipped

QUERY = parse_query("authentication of configured users")
NAMES = ["auth", "config", "users", "zebra"]


class Slow(Counting):
    """A model too slow for single words."""

    def embed_words(self, words: Sequence[str]) -> None:
        return None


async def test_equal_stems_are_most_similar_and_related_words_come_next() -> None:
    similar = await WordSimilarity(shipped()).compare(QUERY, NAMES)
    assert similar["users"] == 1.0
    assert similar["zebra"] < similar["auth"] < 1.0
    assert similar["zebra"] < similar["config"] < 1.0


async def test_with_a_slow_model_only_equal_stems_count() -> None:
    assert equal_stems(QUERY, NAMES) == {"auth": 0.0, "config": 0.0, "users": 1.0, "zebra": 0.0}
    assert await WordSimilarity(Slow()).compare(QUERY, NAMES) == equal_stems(QUERY, NAMES)


async def test_a_query_of_stopwords_is_similar_to_nothing() -> None:
    similarity = WordSimilarity(shipped())
    assert await similarity.compare(parse_query("how is it"), ["how"]) == {"how": 0.0}
    assert await similarity.compare(QUERY, []) == {}


async def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_similarity, "MAX_WORDS", 6)
    compared = WordSimilarity(shipped())
    first = await compared.compare(QUERY, NAMES)
    await compared.compare(QUERY, ["other", "words"])
    assert await compared.compare(QUERY, NAMES) == first
