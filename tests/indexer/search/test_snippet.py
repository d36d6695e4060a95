from services.core.text.highlight import mark_terms
from services.core.text.tokens import text_terms
from services.indexer.search.snippet import (
    WINDOW_STRIDE,
    WINDOW_WORDS,
    Snippet,
    WindowSize,
)
from services.indexer.search.snippet import snippet as cut_snippet


def snippet(text: str, start_line: int, query: str, context_lines: int) -> Snippet:
    return cut_snippet(mark_terms(text, text_terms(query)), start_line, context_lines)


def test_a_short_chunk_is_shown_whole() -> None:
    text = "def a():\n    return 1"
    assert snippet(text, 5, "return", 3).text == text


def test_a_long_chunk_is_cut_to_its_best_window() -> None:
    lines = [f"filler line {n}" for n in range(100)]
    lines[70] = "retry with exponential backoff"
    found = snippet("\n".join(lines), 1, "exponential backoff retry", 2)
    assert "exponential backoff" in found.text
    assert len(found.text.split("\n")) == 12 + 2 * 2
    assert 60 <= found.start_line <= 68
    assert lines[found.start_line - 1] == found.text.split("\n")[0]


def test_without_a_match_the_head_is_shown() -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    assert snippet(text, 10, "zebra", 0).start_line == 10


def test_the_size_of_windows_decides_which_terms_count_together() -> None:
    assert WINDOW_STRIDE <= WINDOW_WORDS  # or words between two windows would be in none
    lines = [f"filler line {n}" for n in range(100)]
    lines[20], lines[60], lines[66] = "alpha beta", "alpha beta", "gamma"
    text = mark_terms("\n".join(lines), text_terms("alpha beta gamma"))
    small = cut_snippet(text, 1, 0, WindowSize(words=4, stride=2))
    large = cut_snippet(text, 1, 0, WindowSize(words=32, stride=16))
    assert small.start_line < 21 < small.start_line + 12  # the first of two equal windows
    assert large.start_line < 66 < large.start_line + 12  # all three terms in one window
