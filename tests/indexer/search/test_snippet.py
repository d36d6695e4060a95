"""The snippet of a definition: numbered lines, marked cuts, the lines that matter."""

from ctx_core.text.excerpts import mark_terms
from ctx_core.text.tokens import text_terms
from ctx_indexer.chunking.definition_spans import DefinitionSpan
from ctx_indexer.search.snippet import (
    MAX_LINE,
    WINDOW_STRIDE,
    WINDOW_WORDS,
    Rows,
    best_line,
    snippet,
)

LONG = Rows(["# above", "def run(", "    self,", ") -> None:", *(f"    a{n}" for n in range(100))])
RUN = DefinitionSpan("run", "function", 2, 104, 2)


def test_a_short_definition_is_whole_and_nothing_else() -> None:
    rows = Rows(["x", "def a():", "    return 1", "y"])
    span = DefinitionSpan("a", "function", 2, 3, 2)
    assert snippet(rows, span, 2, 100) == "2\tdef a():\n3\t    return 1"


def test_context_is_added_as_far_as_the_file_goes() -> None:
    rows = Rows(["x", "def a():", "    return 1", "y", "z"])
    span = DefinitionSpan("a", "function", 2, 3, 2)
    numbers = [line.split("\t")[0] for line in snippet(rows, span, 2, 100, 2).split("\n")]
    assert numbers == ["1", "2", "3", "4", "5"]


def test_a_long_definition_is_its_signature_and_the_lines_around_the_focus() -> None:
    shown = snippet(LONG, RUN, 60, 120).split("\n")
    assert shown[:3] == ["2\tdef run(", "3\t    self,", "4\t) -> None:"]
    assert shown[3] == "… 52 lines (5-56)"
    assert "60\t    a55" in shown
    assert shown[-1] == "… 40 lines (65-104)"


def test_every_line_is_shown_or_counted() -> None:
    for focus in (2, 50, 104):
        seen = 0
        for line in snippet(LONG, RUN, focus, 150).split("\n"):
            seen += int(line.split()[1]) if line.startswith("…") else 1
        assert seen == 103, focus


def test_lines_of_the_index_end_with_the_chunk() -> None:
    rows = Rows(["    a", "    b"], first_line=50)
    assert snippet(rows, RUN, 50, 1_000) == "50\t    a\n51\t    b"


def test_long_lines_are_cut() -> None:
    [line] = snippet(Rows(["x" * 1_000]), DefinitionSpan("", "code", 1, 1, 1), 1, 100).split("\n")
    assert len(line) == len("1\t") + MAX_LINE + 1
    assert line.endswith("…")


def test_the_best_line_is_in_the_window_with_the_most_terms() -> None:
    lines = [f"filler line {n}" for n in range(100)]
    lines[70] = "retry with exponential backoff"
    marked = mark_terms("\n".join(lines), text_terms("exponential backoff retry"))
    assert 78 <= best_line(marked, 10) <= 82


def test_without_a_match_the_first_line_is_the_best() -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    assert best_line(mark_terms(text, text_terms("zebra")), 10) == 10


def test_terms_count_together_where_one_window_holds_them() -> None:
    assert WINDOW_STRIDE <= WINDOW_WORDS  # or words between two windows would be in none
    lines = [f"filler line {n}" for n in range(100)]
    lines[20], lines[60] = "alpha beta", "alpha beta"
    for row, expected in ((66, range(15, 25)), (61, range(55, 65))):
        near = [*lines[:row], "gamma", *lines[row + 1 :]]
        text = mark_terms("\n".join(near), text_terms("alpha beta gamma"))
        assert best_line(text, 1) in expected
