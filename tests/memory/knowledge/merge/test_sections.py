"""Markdown is cut at `## ` headings that are headings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx_memory.knowledge.merge.sections import join_sections, split_sections

FENCES = ["```", "````", "``` js", "~~~", "  ```"]
LINES = st.sampled_from(["## A", "## a ", "##", "## ", "### B", "    ## C", "x", "", "\r", *FENCES])


def titles(markdown: str) -> list[str]:
    return [section.title for section in split_sections(markdown)]


@given(st.lists(LINES), st.booleans())
def test_the_sections_add_up_to_the_text(lines: list[str], ends: bool) -> None:
    text = "\n".join(lines) + ("\n" if ends else "")
    assert "".join(section.text for section in split_sections(text)) == text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("", [""]),
        ("intro\n## A\nx\n## B\n", ["", "## A", "## B"]),
        ("# top\n### deep\n", [""]),
        ("## A\n```\n## not a heading\n```\n## B\n", ["", "## A", "## B"]),
        ("## A\n~~~\n```\n## no\n~~~\n## B", ["", "## A", "## B"]),
        ("## A\n````\n```\n## no\n````\n## B", ["", "## A", "## B"]),
        ("``` a`b\n## yes\n", ["", "## yes"]),
        ("## A\n```\n## never closed\n", ["", "## A"]),
        ("##no blank\n    ## code\n##\n", [""]),
        ("## A\r\nx\r\n## A\r\n", ["", "## A", "## A"]),
    ],
)
def test_headings(markdown: str, expected: list[str]) -> None:
    assert titles(markdown) == expected


def test_a_heading_gets_a_blank_line_before_it() -> None:
    first, second = split_sections("## A\nx")[1], split_sections("## B\ny\n")[1]
    assert join_sections([first, second]) == "## A\nx\n\n## B\ny\n"
    assert titles(join_sections([first, second])) == ["", "## A", "## B"]
