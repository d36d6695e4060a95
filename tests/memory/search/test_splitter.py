"""Long texts split into overlapping chunks."""

from hypothesis import given
from hypothesis import strategies as st

from ctx_memory.search.splitter import TextSplitter

TEXTS = st.text(alphabet="ab .\n\tc", max_size=600)


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
