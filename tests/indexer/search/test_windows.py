"""Micro windows over the words of a chunk."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.core.errors import InvalidInput
from services.core.text.tokens import words
from services.indexer.search.window import WINDOW_STRIDE, WINDOW_WORDS, Window, windows


def test_windows_overlap_and_know_their_lines() -> None:
    text = "one two three\nfour five\n\nsix seven"
    assert windows(text, size=4, stride=2, first_line=10) == [
        Window(10, 11, "one two three\nfour"),
        Window(10, 13, "three\nfour five\n\nsix"),
        Window(11, 13, "five\n\nsix seven"),
    ]


def test_a_short_text_is_one_window() -> None:
    assert windows("def f(x)") == [Window(1, 1, "def f(x")]


def test_a_text_without_words_has_none() -> None:
    assert windows("{ }\n---") == []


@pytest.mark.parametrize(("size", "stride"), [(8, 9), (8, 0), (0, 1), (4, -1)])
def test_words_would_be_lost(size: int, stride: int) -> None:
    with pytest.raises(InvalidInput):
        windows("a b c", size=size, stride=stride)


@settings(max_examples=100)
@given(st.text(alphabet="ab_1 \n(.é", max_size=400), st.integers(1, 20), st.integers(1, 20))
def test_every_word_is_in_a_window(text: str, size: int, stride: int) -> None:
    stride = min(size, stride)
    found = windows(text, size, stride)
    tokens = [word.text for word in words(text)]
    joined = [[word.text for word in words(window.text)] for window in found]
    assert all(len(inside) <= size for inside in joined)
    kept = [token for inside in joined[:-1] for token in inside[:stride]]
    assert kept + (joined[-1] if joined else []) == tokens
    rows = text.split("\n")
    for window in found:
        assert window.text in "\n".join(rows[window.start_line - 1 : window.end_line])


def test_defaults() -> None:
    assert WINDOW_STRIDE <= WINDOW_WORDS
    assert len(windows(" ".join(["word"] * 40))) == 4
