"""Texts cut to a length at a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx_core.text.excerpts import truncate

TEXTS = st.text(alphabet="ab .\n\tc", max_size=600)


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [
        ("short", 300, "short"),
        ("exactly ten", 11, "exactly ten"),
        ("one two three", 8, "one two"),
        ("one two three", 7, "one two"),
        ("one two three", 6, "one"),
        ("one\ntwo", 5, "one"),
        ("unbroken" * 10, 20, ("unbroken" * 10)[:20]),
        ("   leading", 5, "   le"),
    ],
)
def test_a_text_is_cut_at_a_word(text: str, length: int, shown: str) -> None:
    assert truncate(text, length) == shown


@given(TEXTS, st.integers(1, 100))
def test_the_result_is_a_prefix_of_the_text(text: str, length: int) -> None:
    shown = truncate(text, length)
    assert text.startswith(shown)
    assert len(shown) <= length
    assert bool(shown) == bool(text)
