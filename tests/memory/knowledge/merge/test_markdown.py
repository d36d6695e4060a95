"""Merging Markdown loses no line and finds no conflict where there is none."""

from dataclasses import dataclass, replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctx_memory.knowledge.merge.fields import Side
from ctx_memory.knowledge.merge.markdown import merge_markdown
from ctx_memory.knowledge.merge.sections import split_sections

BASE = "intro\n\n## A\na\n\n## B\nb\n\n## C\nc\n"
MARKERS = ("<<<<<<<", "=======", ">>>>>>>")


# --- examples ------------------------------------------------------------------------------


def test_changes_in_different_sections_are_both_kept() -> None:
    merged = merge_markdown(
        BASE, BASE.replace("\na\n", "\nours\n"), BASE.replace("\nc\n", "\ntheirs\n")
    )
    assert merged.conflicts == ()
    assert merged.text == "intro\n\n## A\nours\n\n## B\nb\n\n## C\ntheirs\n"


@pytest.mark.parametrize("prefer", Side)
def test_one_section_that_both_changed_is_a_conflict_of_that_section_alone(prefer: Side) -> None:
    ours = BASE.replace("\na\n", "\nours\n").replace("intro", "ours intro")
    theirs = BASE.replace("\na\n", "\ntheirs\n").replace("\nc\n", "\nnew c\n")
    merged = merge_markdown(BASE, ours, theirs, prefer)
    assert merged.conflicts == ("Section '## A': both sides modified differently",)
    assert merged.text == f"ours intro\n\n## A\n{prefer.value}\n\n## B\nb\n\n## C\nnew c\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "conflict"),
    [
        ("## A\nx\n", "", "Section '## A': deleted by theirs but modified by ours"),
        ("", "## A\nx\n", "Section '## A': deleted by ours but modified by theirs"),
        ("## a\nx\n", "## A\ny\n", "Section '## A': both sides modified differently"),
        (
            "## A\na\n## N\n1\n",
            "## A\na\n## N\n2\n",
            "Section '## N': added by both sides with different content",
        ),
    ],
)
def test_what_a_conflict_says(ours: str, theirs: str, conflict: str) -> None:
    assert merge_markdown("## A\na\n", ours, theirs).conflicts == (conflict,)


def test_new_sections_of_both_sides_stay_where_they_were_put() -> None:
    ours = BASE.replace("## B", "## Ours\n1\n\n## B")
    theirs = BASE.replace("## B", "## Theirs\n2\n\n## B") + "\n## Last\n3\n"
    merged = merge_markdown(BASE, ours, theirs)
    assert merged.conflicts == ()
    titles = [section.title for section in split_sections(merged.text)]
    assert titles == ["", "## A", "## Ours", "## Theirs", "## B", "## C", "## Last"]


def test_sections_that_one_side_moved_stay_moved() -> None:
    moved = "intro\n\n## C\nc\n\n## A\na\n\n## B\nb\n"
    merged = merge_markdown(BASE, BASE.replace("\nb\n", "\nnew b\n"), moved)
    assert merged.conflicts == ()
    assert merged.text == "intro\n\n## C\nc\n\n## A\na\n\n## B\nnew b\n"


def test_repeated_headings_are_sections_of_their_own() -> None:
    base = "## Log\none\n\n## Log\ntwo\n"
    ours = "## Log\nzero\n\n## Log\none\n\n## Log\ntwo\n"
    theirs = "## Log\none\n\n## Log\ntwo changed\n"
    merged = merge_markdown(base, ours, theirs)
    assert merged.conflicts == ()
    assert merged.text == "## Log\nzero\n\n## Log\none\n\n## Log\ntwo changed\n"


def test_a_heading_in_a_code_fence_is_code() -> None:
    base = "## A\n```\n## not one\n```\n\n## B\nb\n"
    merged = merge_markdown(base, base.replace("not one", "ours"), base.replace("\nb\n", "\nnew\n"))
    assert merged.text == "## A\n```\n## ours\n```\n\n## B\nnew\n"


def test_without_a_base_different_sections_are_put_together() -> None:
    merged = merge_markdown(None, "## A\na\n\n## Same\ns\n", "## Same\ns\n\n## B\nb\n")
    assert merged.conflicts == ()
    assert set(merged.text.split("\n\n")) == {"## A\na", "## Same\ns", "## B\nb\n"}


# --- properties ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A section of the model: `identity` follows it through the edits of both sides."""

    identity: int
    heading: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join([self.heading, *self.lines, ""])


Edit = tuple[str, int, str]
HEADINGS = st.sampled_from(["## A", "## B", "## C", "## D"])
EDITS = st.lists(
    st.tuples(st.sampled_from(["edit", "delete", "insert", "fence"]), st.integers(0, 9), HEADINGS),
    max_size=4,
)


def edited(parts: list[Part], edits: list[Edit], side: str) -> list[Part]:
    """Apply edits to sections; every new line says whose it is, so that none equals another."""
    result, fresh = list(parts), count()
    for kind, at, heading in edits:
        line = f"{side} {next(fresh)}"
        if kind == "insert":
            number = 1000 * (1 + len(side)) + next(fresh)
            result.insert(at % (len(result) + 1), Part(number, f"{heading} {line}", (line,)))
        elif result:
            position = at % len(result)
            part = result[position]
            if kind == "delete":
                del result[position]
            else:
                more = (line,) if kind == "edit" else ("```", "## " + line, "```")
                result[position] = replace(part, lines=(*part.lines, *more))
    return result


def document(parts: list[Part]) -> str:
    return "intro\n\n" + "\n".join(part.text for part in parts)


def lines_of(text: str) -> set[str]:
    return {line for line in text.split("\n") if line}


@st.composite
def versions(draw: st.DrawFn, repeats: bool) -> tuple[list[Part], list[Part], list[Part]]:
    headings = draw(st.lists(HEADINGS, max_size=5, unique=not repeats))
    base = [Part(n, heading, (f"base {n}",)) for n, heading in enumerate(headings)]
    return base, edited(base, draw(EDITS), "ours"), edited(base, draw(EDITS), "theirs.")


@settings(max_examples=400)
@given(versions(repeats=False))
def test_conflicts_are_exactly_the_sections_that_both_changed(
    parts: tuple[list[Part], list[Part], list[Part]],
) -> None:
    base, ours, theirs = parts
    before, mine, other = ({p.identity: p.lines for p in side} for side in parts)
    both = [n for n in before if before[n] != mine.get(n) != other.get(n) != before[n]]
    merged = merge_markdown(document(base), document(ours), document(theirs))
    assert len(merged.conflicts) == len(both)


@settings(max_examples=400)
@given(versions(repeats=True))
def test_no_line_that_either_side_kept_is_lost(
    parts: tuple[list[Part], list[Part], list[Part]],
) -> None:
    base, ours, theirs = (document(side) for side in parts)
    merged = merge_markdown(base, ours, theirs)
    known, mine, other, result = (lines_of(t) for t in (base, ours, theirs, merged.text))
    assert not any(marker in merged.text for marker in MARKERS)
    assert result <= known | mine | other
    if not merged.conflicts:
        assert (mine & other) | (mine - known) | (other - known) <= result
    assert mine <= result | (known - other), (
        "what ours added or both kept stands even in a conflict"
    )


@settings(max_examples=400)
@given(versions(repeats=True))
def test_merging_again_changes_nothing(
    parts: tuple[list[Part], list[Part], list[Part]],
) -> None:
    base, ours, theirs = (document(side) for side in parts)
    merged = merge_markdown(base, ours, theirs)
    again = merge_markdown(base, merged.text, theirs)
    if not merged.conflicts:
        assert again.conflicts == ()
        assert lines_of(again.text) == lines_of(merged.text)
    assert merge_markdown(base, ours, ours).text == merge_markdown(ours, ours, ours).text


@settings(max_examples=400)
@given(versions(repeats=False))
def test_both_sides_come_to_the_same_lines(
    parts: tuple[list[Part], list[Part], list[Part]],
) -> None:
    base, ours, theirs = (document(side) for side in parts)
    one, other = merge_markdown(base, ours, theirs), merge_markdown(base, theirs, ours)
    assert len(one.conflicts) == len(other.conflicts)
    if not one.conflicts:
        assert lines_of(one.text) == lines_of(other.text)
