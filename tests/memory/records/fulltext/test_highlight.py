"""Passages with the words of a query marked."""

import time

import pytest

from ctx_memory.records.database import Dialect
from ctx_memory.records.fulltext.highlight import MAX_SCANNED
from ctx_memory.records.fulltext.index import TextIndex
from ctx_memory.records.fulltext.query import TextMode, TextQuery
from tests.support.fulltext import TEXTS

MARKED = [
    ("match", "server errors", 5, ["<mark>server</mark>", "<mark>error</mark>"]),
    ("match", "run", 2, ["<mark>running</mark>"]),
    ("match", "errors.py", 1, ["<mark>errors.py</mark>"]),
    ("phrase", "tests passed", 4, ["<mark>tests passed</mark>"]),
    ("prefix", "auth", 3, ["<mark>Authentication</mark>", "<mark>authenticating</mark>"]),
    ("boolean", "panic OR unicorn", 4, ["<mark>panic</mark>"]),
    ("boolean", "panic AND NOT server", 4, ["<mark>panic</mark>"]),
    ("match", "qux", 7, ["<mark>qux</mark>"]),
    ("match", "cafe", 6, ["<mark>café</mark>"]),
    ("match", "the", 1, ["<mark>The</mark>"]),
    ("phrase", "of the", 4, ["<mark>of the</mark>"]),
    ("prefix", "univers", 2, ["<mark>University</mark>", "<mark>universally</mark>"]),
]


def passages(query: str, text: str, mode: str = "match", dialect: Dialect = "sqlite") -> str | None:
    marks = TextIndex(dialect).highlighter(TextQuery(query, TextMode(mode)))
    assert marks is not None
    return marks.passages(text)


@pytest.mark.parametrize(("mode", "query", "number", "marks"), MARKED)
def test_words_are_marked(mode: str, query: str, number: int, marks: list[str]) -> None:
    for dialect in ("sqlite", "postgresql"):
        shown = passages(query, TEXTS[number], mode, dialect)
        assert shown is not None
        for mark in marks:
            assert mark in shown
        assert shown.replace("<mark>", "").replace("</mark>", "") == TEXTS[number]


def test_what_is_not_there_is_not_marked() -> None:
    assert passages("unicorn", TEXTS[1]) is None
    assert passages("NOT server", TEXTS[1], "boolean") is None


def test_the_passages_with_most_words_are_shown() -> None:
    filler = "nothing to see here, move along. " * 20
    text = f"A kernel. {filler} The kernel said panic. {filler} Calm. {filler} A panic."
    shown = passages("kernel panic", text)
    assert shown is not None
    assert "The <mark>kernel</mark> said <mark>panic</mark>" in shown
    assert " … " in shown
    assert len(shown) < 1000


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "the quick fox jumps over lazy dogs " * 14_500,
        "fox " * 125_000,
        "x" * 250_000 + " fox " + "y" * 250_000,
        "fox" + "x" * 500_000,
        "a b " * 120_000 + "fox",
        "\u0301" * 500_000 + " fox",
    ],
)
def test_a_long_text_takes_a_moment_and_little_room(text: str) -> None:
    for mode, query in (("match", "fox"), ("prefix", "fo"), ("phrase", "a b a b a b a b c fox")):
        start = time.perf_counter()
        shown = passages(query, text, mode)
        assert time.perf_counter() - start < 5
        assert len(shown or "") < 3000


def test_what_lies_too_deep_is_not_shown() -> None:
    assert passages("needle", "word " * (MAX_SCANNED // 5) + "needle") is None
