"""Words that agree in meaning are near."""

from collections.abc import Sequence

import pytest

from services.indexer.search import word_similarity
from services.indexer.search.query import parse_query
from services.indexer.search.word_similarity import WordSimilarity, equal
from tests.indexer.conftest import Counting, shipped

QUESTION = parse_query("authentication of configured users")
NAMES = ["auth", "config", "users", "zebra"]


class Slow(Counting):
    """A model that words are not asked of."""

    def embed_words(self, words: Sequence[str]) -> None:
        return None


async def test_equal_stems_are_nearest_and_kin_comes_next() -> None:
    near = await WordSimilarity(shipped()).to(QUESTION, NAMES)
    assert near["users"] == 1.0
    assert near["zebra"] < near["auth"] < 1.0
    assert near["zebra"] < near["config"] < 1.0


async def test_with_a_slow_model_only_equal_stems_are_near() -> None:
    assert equal(QUESTION, NAMES) == {"auth": 0.0, "config": 0.0, "users": 1.0, "zebra": 0.0}
    assert await WordSimilarity(Slow()).to(QUESTION, NAMES) == equal(QUESTION, NAMES)


async def test_a_question_of_stopwords_is_near_to_nothing() -> None:
    assert await WordSimilarity(shipped()).to(parse_query("how is it"), ["how"]) == {"how": 0.0}
    assert await WordSimilarity(shipped()).to(QUESTION, []) == {}


async def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_similarity, "MAX_WORDS_KNOWN", 6)
    compared = WordSimilarity(shipped())
    first = await compared.to(QUESTION, NAMES)
    await compared.to(QUESTION, ["other", "words"])
    assert await compared.to(QUESTION, NAMES) == first
