"""Packing: near spans are one source, repeated texts count once, the budget holds."""

from ctx_indexer.answers.packing import Mode, pack
from ctx_indexer.answers.sources import Span
from ctx_indexer.chunking.definition_spans import DefinitionSpan
from ctx_indexer.search.snippet import Rows

FILE = [f"line {number} of a file with some words in it" for number in range(1, 201)]


def span(first: int, last: int, path: str = "a.py", relevance: float = 0.5) -> Span:
    definition = DefinitionSpan(f"f{first}", "function", first, last, first)
    rows = [f"{path} {row}" for row in FILE]
    return Span("repo", path, definition, Rows(rows), relevance)


def test_near_spans_of_a_file_are_one_source() -> None:
    sources = pack([span(10, 20), span(50, 60), span(23, 30)], 50_000)
    assert [(each.span.first, each.span.last) for each in sources] == [(10, 30), (50, 60)]
    assert [each.number for each in sources] == [1, 2]


def test_mode_pack_keeps_them_apart_and_takes_their_best_lines() -> None:
    sources = pack([span(10, 100), span(101, 200)], 50_000, Mode.PACK)
    assert [(each.span.first, each.span.last) for each in sources] == [(10, 100), (101, 200)]
    assert all(0 < len(each.lines) < 30 for each in sources)


def test_what_an_earlier_span_holds_is_left_out() -> None:
    sources = pack([span(10, 60), span(20, 30), span(100, 110, "b.py")], 50_000, Mode.PACK)
    assert [each.span.path for each in sources] == ["a.py", "b.py"]


def test_a_repeated_text_counts_once() -> None:
    copy = span(10, 20)
    other = Span("repo", "copy.py", copy.definition, copy.rows, 0.4)
    assert [each.span.path for each in pack([copy, other], 50_000)] == ["a.py"]


def test_the_budget_holds_and_definitions_are_widened_to_it() -> None:
    spans = [span(1, 80), span(1, 80, "b.py"), span(1, 80, "c.py")]
    small = pack(spans, 1_200)
    assert sum(len(each.text) for each in small) < 2_000
    assert all(len(each.lines) < 80 for each in small)
    assert all(each.lines[0] == 1 for each in small), "the signature is always there"
    whole = pack(spans, 50_000)
    assert [len(each.lines) for each in whole] == [80, 80, 80]


def test_a_cut_is_marked() -> None:
    [source] = pack([span(1, 150)], 600)
    assert "…" in source.text or source.lines == tuple(range(1, len(source.lines) + 1))
    assert source.label == "a.py:1-150 f1"
