"""`fts_search_context`: entries by words."""

import time

import pytest

from tests.support.contract import Thread, Tools
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
    assert hit["highlighted"] == (
        "Retry the payment queue with exponential backoff and <mark>jitter</mark>"
    )


STOP_WORDS = {
    "hamlet": "To be, or not to be, that is the question",
    "band": "We listened to The Who all night",
    "node": "The node was upgraded",
    "support": "Ask IT for a new laptop",
    "dont": "Please don't restart it by hand",
    "fox": "A fox was seen",
}


@pytest.mark.parametrize(
    ("mode", "words", "expected"),
    [
        ("phrase", "to be or not to be", {"hamlet"}),
        ("phrase", "The Who", {"band"}),
        ("match", "The Who", {"band"}),
        ("prefix", "no", {"hamlet", "node"}),
        ("prefix", "a", {"band", "support", "fox"}),
        ("match", "IT", {"support", "dont"}),
        ("match", "don't", {"dont"}),
        ("boolean", "fox OR the", {"fox", "hamlet", "band", "node"}),
        ("match", "what was the question", {"hamlet"}),
    ],
)
async def test_common_words_are_found(
    tools: Tools, mode: str, words: str, expected: set[str]
) -> None:
    thread = Thread(tools)
    for text in STOP_WORDS.values():
        await thread.store(text)
    found = await thread.texts("fts_search_context", query=words, mode=mode, limit=10)
    assert {name for name, text in STOP_WORDS.items() if text in found} == expected
    if mode == "match":
        body = await thread.search("hybrid_search_context", query=words, search_modes=["fts"])
        assert body["fts_count"] >= len(expected)


@pytest.mark.parametrize("query", ["resume", "RÉSUMÉ", "re\u0301sume\u0301", "naïve", "naive"])
async def test_accents_do_not_count(thread: Thread, query: str) -> None:
    await thread.store("A naïve résumé")
    for mode in ("match", "prefix", "phrase"):
        body = await thread.search("fts_search_context", query=query, mode=mode, highlight=True)
        [hit] = body["results"]
        assert "<mark>" in hit["highlighted"]


async def test_a_long_text_is_highlighted_in_a_moment(thread: Thread) -> None:
    await thread.store("the quick fox jumps over lazy dogs " * 14_500)
    start = time.perf_counter()
    for mode, words in (("match", "fox"), ("phrase", "quick fox"), ("prefix", "fo")):
        body = await thread.search("fts_search_context", query=words, mode=mode, highlight=True)
        [hit] = body["results"]
        assert "fox</mark>" in hit["highlighted"]
        assert len(hit["highlighted"]) < 2000
    assert time.perf_counter() - start < 15


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("pay", "payment"),
        ("key", "keyboard"),
        ("deploy", "deployment"),
        ("copy", "copyright"),
        ("filesys", "filesystem"),
        ("add", "adding"),
        ("mapp", "mapping"),
        ("occurre", "occurred"),
    ],
)
async def test_a_prefix_finds_a_word_whose_stem_it_is_not_part_of(
    thread: Thread, typed: str, word: str
) -> None:
    await thread.store(f"about {word} alone")
    for query, mode in (
        (typed, "prefix"),
        (f"{typed}*", "boolean"),
        (f"{typed}* AND alone", "boolean"),
    ):
        assert await thread.texts("fts_search_context", query=query, mode=mode), (query, mode)
