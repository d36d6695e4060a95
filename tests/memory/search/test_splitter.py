"""Texts cut short, cut into chunks, and boiled down to their best sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.text.truncate import truncated
from services.memory.search.splitter import TextSplitter
from services.memory.summaries.extractive import MOST_CHARACTERS, extract

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
    assert truncated(text, length) == shown


@given(TEXTS, st.integers(1, 100))
def test_what_is_shown_is_a_beginning(text: str, length: int) -> None:
    shown = truncated(text, length)
    assert text.startswith(shown)
    assert len(shown) <= length
    assert bool(shown) == bool(text)


def test_a_short_text_is_one_chunk() -> None:
    assert TextSplitter(200, 20).chunks("one idea") == ["one idea"]
    assert TextSplitter(200, 20).chunks("x" * 200) == ["x" * 200]


def test_chunks_end_where_a_paragraph_does() -> None:
    paragraphs = [f"Paragraph {n} says something. " * 6 for n in range(6)]
    chunks = TextSplitter(420, 40).chunks("\n\n".join(paragraphs))
    assert all(chunk.endswith("\n\n") for chunk in chunks[:-1])


@given(TEXTS, st.integers(20, 60), st.integers(0, 10))
def test_chunks_hold_all_of_the_text_and_overlap(text: str, size: int, overlap: int) -> None:
    chunks = TextSplitter(size, overlap).chunks(text)
    covered = 0
    for chunk in chunks:
        assert len(chunk) <= size
        # The last place that leaves no gap: a text may repeat itself. A gap has none.
        covered = text.rindex(chunk, 0, covered + len(chunk)) + len(chunk)
    assert covered == len(text)


def test_the_chunks_of_one_long_word() -> None:
    chunks = TextSplitter(100, 10).chunks("x" * 1000)
    assert sum(map(len, chunks)) >= 1000
    assert {len(chunk) for chunk in chunks[:-1]} == {100}


LONG = (
    "The scheduler lost jobs after a restart. It was a sunny day in March. "
    "Jobs were kept in memory by the scheduler, so a restart dropped every queued job. "
    "We moved the queue of the scheduler into the database. Lunch was late. "
    "A restart now resumes the queued jobs from the database. Bob likes tea. "
) * 1


def test_an_extract_keeps_what_the_text_is_about() -> None:
    summary = extract(LONG, 230)
    assert "restart" in summary
    assert "scheduler" in summary
    assert "tea" not in summary
    assert "sunny" not in summary
    assert len(summary) <= 230


def test_an_extract_is_in_the_order_of_the_text_and_repeats_nothing() -> None:
    summary = extract(LONG * 3)
    sentences = [s for s in summary.replace(". ", ".\n").splitlines() if s]
    positions = [LONG.index(sentence.rstrip(".")) for sentence in sentences]
    assert positions == sorted(set(positions))
    assert extract(LONG) == extract(LONG)


def test_an_extract_of_one_endless_line_is_its_beginning() -> None:
    summary = extract("word " * 5_000)
    assert summary.startswith("word word")
    assert len(summary) <= MOST_CHARACTERS


@given(st.text(max_size=400), st.integers(20, 200))
def test_an_extract_never_exceeds_its_bound(text: str, most: int) -> None:
    assert len(extract(text, most)) <= most
