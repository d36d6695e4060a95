"""`fts_search_context`: entries by words."""

import pytest

from tests.support.contract import Thread
from tests.support.thread_samples import HIT_KEYS, sample_number

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_words_are_found_in_every_form(filled: Thread) -> None:
    body = await filled.search("fts_search_context", query="restarting broker")
    assert [sample_number(hit) for hit in body["results"]] == [1]
    assert (body["mode"], body["language"]) == ("match", "english")
    [hit] = body["results"]
    assert hit["scores"]["fts_rank"] is None
    assert hit["scores"]["fts_score"] > 0


@pytest.mark.parametrize(
    ("mode", "words", "expected"),
    [
        ("match", "queue payment", {0, 1, 2}),
        ("prefix", "expo", {0}),
        ("phrase", "payment queue drops", {1}),
        ("phrase", "queue payment", set()),
        ("boolean", "queue AND NOT broker", {0, 2}),
        ("boolean", "jitter OR colours", {0, 3}),
    ],
)
async def test_modes(filled: Thread, mode: str, words: str, expected: set[int]) -> None:
    body = await filled.search("fts_search_context", query=words, mode=mode)
    assert body["mode"] == mode
    assert {sample_number(hit) for hit in body["results"]} == expected


async def test_a_malformed_boolean_query_is_read_as_words_and_says_so(filled: Thread) -> None:
    body = await filled.search("fts_search_context", query="(jitter AND", mode="boolean")
    assert body["warnings"]
    assert {sample_number(hit) for hit in body["results"]} == {0}


async def test_highlights(filled: Thread) -> None:
    body = await filled.search("fts_search_context", query="jitter", highlight=True)
    [hit] = body["results"]
    assert set(hit) == HIT_KEYS | {"scores", "highlighted"}
    assert "jitter" in hit["highlighted"]
    assert hit["highlighted"] != hit["text_content"]
