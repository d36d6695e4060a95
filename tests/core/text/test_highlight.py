"""Fragments around the terms of a query."""

from ctx_core.text.excerpts import highlights as fragments
from ctx_core.text.excerpts import mark_terms
from ctx_core.text.tokens import text_terms

TEXT = (
    "Efficient Python pattern for processing large files using generators to minimize memory usage"
)


def highlights(text: str, query: str) -> list[str]:
    return fragments(mark_terms(text, text_terms(query)))


def test_matches_are_marked_and_neighbours_joined() -> None:
    assert highlights(TEXT, "memory usage of generators") == [
        "processing large files using <<generators>> to minimize <<memory usage>>"
    ]


def test_other_forms_of_a_word_match() -> None:
    assert highlights("it was cached", "caching") == ["it was <<cached>>"]


def test_parts_of_identifiers_match() -> None:
    assert highlights("call parseResponse() twice", "response") == [
        "call <<parseResponse>>() twice"
    ]


def test_no_match_no_fragment() -> None:
    assert highlights(TEXT, "kubernetes") == []
    assert highlights("", "x") == []
    assert highlights(TEXT, "") == []


def test_distant_matches_give_separate_fragments_up_to_the_limit() -> None:
    text = " ".join(f"needle{' hay' * 20}" for _ in range(5))
    found = highlights(text, "needle")
    assert len(found) == 3
    assert all(fragment.count("<<needle>>") == 1 for fragment in found)
