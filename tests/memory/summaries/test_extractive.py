"""Summaries of a text's best sentences."""

from hypothesis import given
from hypothesis import strategies as st

from ctx_memory.summaries.extractive import MAX_CHARACTERS, extract

LONG = (
    "The scheduler lost jobs after a restart. It was a sunny day in March. "
    "Jobs were kept in memory by the scheduler, so a restart dropped every queued job. "
    "We moved the queue of the scheduler into the database. Lunch was late. "
    "A restart now resumes the queued jobs from the database. Bob likes tea. "
)


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
    assert len(summary) <= MAX_CHARACTERS


@given(st.text(max_size=400), st.integers(20, 200))
def test_an_extract_never_exceeds_its_bound(text: str, length: int) -> None:
    assert len(extract(text, length)) <= length
