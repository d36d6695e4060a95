"""Patterns match as they are written, and never take more than linear time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx_core.errors import InvalidInput
from ctx_indexer.lookup.pattern import Pattern

TEXT = "def load(x):\n    return Load(x) or reload\n# load_all loads\nend"


def lines(pattern: Pattern, text: str) -> list[int]:
    data = text.encode()
    return [data.count(b"\n", 0, start) + 1 for start, _ in pattern.line_matches(data)]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (Pattern("load"), [1, 2, 3]),
        (Pattern("load", word=True), [1]),
        (Pattern("LOAD", case_sensitive=False), [1, 2, 3]),
        (Pattern("LOAD", case_sensitive=False, word=True), [1, 2]),
        (Pattern(r"^def \w+\(", regex=True), [1]),
        (Pattern(r"x\)$", regex=True), []),
        (Pattern("end"), [4]),
        (Pattern("(x)"), [1, 2]),
        (Pattern(r"load\b", regex=True), [1, 2]),
        (Pattern("^", regex=True), [1, 2, 3, 4]),
    ],
)
def test_lines(pattern: Pattern, found: list[int]) -> None:
    assert lines(pattern, TEXT) == found


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        (r"class \w+\(", [1, 2]),
        (r"class [\w.]+\(", [1, 2]),
        (r"class H\W", []),
        (r"\Q\w\E", [3]),
        (r"\\w", [3]),
    ],
)
def test_words_have_letters_of_every_script(expression: str, found: list[int]) -> None:
    text = "class Héllo(\nclass 日本2(\n\\w\n"
    assert lines(Pattern(expression, regex=True), text) == found


@given(
    st.text("ab_ \né", max_size=60),
    st.text("ab_é", min_size=1, max_size=3),
    st.booleans(),
)
def test_plain_strings_match_as_expressions_do(text: str, needle: str, word: bool) -> None:
    expected = rf"(?<!\w){re.escape(needle)}(?!\w)" if word else re.escape(needle)
    found = [n for n, row in enumerate(text.split("\n"), 1) if re.search(expected, row)]
    assert lines(Pattern(needle, word=word), text) == found


@pytest.mark.parametrize("expression", ["(a+)+$", "(a|aa)*b", "(.*)*x", "([a-z]+)*1"])
def test_expressions_that_freeze_others_take_linear_time(expression: str) -> None:
    started = time.process_time()
    lines(Pattern(expression, regex=True), "a" * 50_000 + "!")
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "wrong", ["", "x" * 1_001, "a\nb", "(", r"(?<=a)b", r"(a)\1", "a{1000}{1000}"]
)
def test_wrong_patterns_are_errors(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="pattern"):
        Pattern(wrong, regex=True)
