"""Full-text queries by words, prefixes and phrases, on both databases."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.fulltext.query import NO_WORDS, TextMode
from tests.support.fulltext import ids, search

MODES: list[tuple[str, str, list[int]]] = [
    ("match", "server", [1, 2, 5]),
    ("match", "SERVERS error", [1, 5]),  # all words, stemmed, whatever their case
    ("match", "the server of error", [1, 5]),  # stop words do not count
    ("match", "don't server error", [1, 5]),
    ("match", "errors.py", [1]),  # a word with punctuation is a phrase
    ("match", "core/errors", [1]),
    ("match", "foo_bar", [7]),
    ("match", "example.com qux", [7]),
    ("match", "server unicorn", []),
    ("match", "run", [2]),
    ("prefix", "serv", [1, 2, 5]),
    ("prefix", "auth us", [3]),
    *(("prefix", "authentication"[:length], [3]) for length in range(3, 15)),
    *(("prefix", "university"[:length], [2]) for length in range(3, 11)),
    ("prefix", "xauth", []),
    ("phrase", "server crashed", [1]),
    ("phrase", "crashed server", []),
    ("phrase", "tests passed", [4]),
]


async def test_modes(texts: AsyncConnection) -> None:
    for mode, query, right in MODES:
        assert await ids(texts, query, mode) == right, (mode, query)


async def test_any_word(texts: AsyncConnection) -> None:
    assert await ids(texts, "panic crashed unicorn", any_word=True) == [1, 4]
    assert await ids(texts, "unicorn", any_word=True) == []
    assert await ids(texts, "pani crash", "prefix", any_word=True) == [1, 4]


async def test_a_query_that_asks_for_nothing_says_so(texts: AsyncConnection) -> None:
    for mode in TextMode:
        for query in ("", " ?! -- ' \" "):
            assert await search(texts, query, mode) == ([], [NO_WORDS])


STOP_WORDS: list[tuple[str, str, list[int]]] = [
    ("match", "the", [1, 4]),
    ("match", "don't", [4]),
    ("match", "of the", [4]),
    ("match", "The Server", [1, 2, 5]),  # beside another word it does not count
    ("prefix", "tw", [3]),
    ("prefix", "th", [1, 4]),
    ("prefix", "i", [3]),
    ("prefix", "the o", [4]),
    ("phrase", "of the tests", [4]),
    ("phrase", "the of", []),
    ("boolean", "unicorn OR the", [1, 4]),
    ("boolean", "NOT the", [2, 3, 5, 6, 7]),
    ("boolean", "the AND of", [4]),
]


async def test_stop_words_can_be_found(texts: AsyncConnection) -> None:
    for mode, query, right in STOP_WORDS:
        assert await ids(texts, query, mode) == right, (mode, query)
    assert await ids(texts, "the of", any_word=True) == [1, 3, 4]


async def test_more_words_than_a_query_has(texts: AsyncConnection) -> None:
    many = "panic " + " ".join(f"word{number}" for number in range(500))
    rows, [warning] = await search(texts, many, any_word=True)
    assert [each["id"] for each in rows] == [4]
    assert "first 64 words" in warning
    _, warnings = await search(texts, many, "boolean")
    assert "more than 64 words" in warnings[0]
    assert await search(texts, many, "phrase") == ([], [])


NASTY = [
    *('"', '""', "'", "''", "\\", "\\'", "*", "**", "a*", "*a", "-a", "+a", "^a", "a^2", "a:b"),
    *("text:panic", "{text}: panic", "NEAR(a b)", "a NEAR/2 b", "(", ")", "()", "AND", "NOT", "OR"),
    *("a AND", "OR b", "a NOT", "a & b", "a | b", "!a", "a <-> b", "a <2> b", "a:*", "a:A"),
    *(
        "; DROP TABLE entries; --",
        "' OR 1=1 --",
        "%",
        "_",
        "?",
        "$1",
        ":x",
        "%(x)s",
        "\x00",
        "a\x00b",
    ),
    *(
        "\ud800",
        "é" * 50,
        "日本語のテキスト",
        "हिन्दी",
        "🎉",
        "\u200b",
        "a\nb\tc",
        "x" * 3000,
        "1",
        "-1",
        "1e5",
    ),
    *("http://a.b/c?d=e&f", "<b>bold</b>", "a@b.c", "/usr/bin", "C:\\x", "don't", "“quoted”"),
    *(" ".join(["a"] * 3000), "(" * 1000, '"a" ' * 100, "NOT " * 100 + "a", "''':*", "a':* | 'b"),
]


@pytest.mark.parametrize("mode", list(TextMode))
async def test_no_text_breaks_the_syntax(texts: AsyncConnection, mode: TextMode) -> None:
    for nasty in NASTY:
        for any_word in (False, True):
            await search(texts, nasty, mode, any_word=any_word)
            await search(texts, f"panic {nasty}", mode, any_word=any_word)
    assert await ids(texts, "panic") == [4]


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(query=st.text(max_size=40), mode=st.sampled_from(list(TextMode)))
async def test_random_text_breaks_nothing(
    texts: AsyncConnection, query: str, mode: TextMode
) -> None:
    await search(texts, query, mode, any_word=len(query) % 2 == 0)
