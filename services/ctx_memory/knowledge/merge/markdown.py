"""Merge three versions of a Markdown file section by section."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctx_memory.knowledge.merge.fields import Merged, Side
from ctx_memory.knowledge.merge.sections import Section, join_sections, split_sections

PREAMBLE = "(before the first heading)"


@dataclass(frozen=True)
class _Version:
    """One side's sections. `continues` ties positions here to positions in the base."""

    sections: Sequence[Section]
    continues: Mapping[int, int]

    @property
    def kept(self) -> dict[int, Section]:
        """This side's version of each base section that it still has."""
        return {base: self.sections[here] for here, base in self.continues.items()}

    @property
    def order(self) -> list[int]:
        """Base sections that this side has, in its order."""
        return [self.continues[n] for n in range(len(self.sections)) if n in self.continues]

    @property
    def added(self) -> list[tuple[int, Section]]:
        """New sections, each with the base section that it follows here."""
        after, found = 0, []
        for number, section in enumerate(self.sections):
            if number in self.continues:
                after = self.continues[number]
            else:
                found.append((after, section))
        return found


def merge_markdown(base: str | None, ours: str, theirs: str, prefer: Side = Side.OURS) -> Merged:
    """Merge by section; without a base both sides added everything.

    A section that both changed differently is a conflict, and the preferred side's version stands.
    """
    before = split_sections(base or "")
    mine = _version(before, split_sections(ours))
    other = _version(before, split_sections(theirs))
    conflicts: list[str] = []
    kept = {
        number: _merge_one(
            section, mine.kept.get(number), other.kept.get(number), prefer, conflicts
        )
        for number, section in enumerate(before)
    }
    added = _merge_added(mine.added, other.added, prefer, conflicts)
    sections: list[Section] = []
    for number in _merge_order(mine, other, len(before)):
        section = kept[number]
        sections += [] if section is None else [section]
        sections += [new for after, new in added if after == number]
    text = join_sections(sections).rstrip("\n")
    return Merged(text + "\n" if text else "", tuple(conflicts))


def _version(base: Sequence[Section], sections: Sequence[Section]) -> _Version:
    ties = _tie(base[1:], sections[1:])
    preambles = {0: 0}
    return _Version(sections, preambles | {here + 1: there + 1 for here, there in ties.items()})


def _tie(base: Sequence[Section], sections: Sequence[Section]) -> dict[int, int]:
    """Tie sections to base sections of the same heading, those with most lines in common first.

    So each repetition of a heading is a section of its own, and one more before it moves none.
    """
    pairs = [
        (_likeness(section, before), here, there)
        for here, section in enumerate(sections)
        for there, before in enumerate(base)
        if section.key == before.key
    ]
    ties: dict[int, int] = {}
    taken: set[int] = set()
    for _, here, there in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if here not in ties and there not in taken:
            ties[here] = there
            taken.add(there)
    return ties


def _likeness(one: Section, other: Section) -> float:
    """How many lines two sections share; equal ones share all."""
    if one.content == other.content:
        return math.inf
    return len(set(one.content.splitlines()) & set(other.content.splitlines()))


def _merge_one(
    base: Section,
    ours: Section | None,
    theirs: Section | None,
    prefer: Side,
    conflicts: list[str],
) -> Section | None:
    """The merged section; None if it is deleted."""
    if _content(theirs) in (_content(ours), base.content):
        return ours
    if _content(ours) == base.content:
        return theirs
    conflicts.append(_conflict(base, ours, theirs))
    return prefer.of(ours, theirs)


def _content(section: Section | None) -> str | None:
    return None if section is None else section.content


def _conflict(base: Section | None, ours: Section | None, theirs: Section | None) -> str:
    titles = [section.title for section in (base, ours, theirs) if section is not None]
    name = f"Section '{titles[0] or PREAMBLE}'"
    if ours is None:
        return f"{name}: deleted by ours but modified by theirs"
    if theirs is None:
        return f"{name}: deleted by theirs but modified by ours"
    if base is None or not base.content:
        return f"{name}: added by both sides with different content"
    return f"{name}: both sides modified differently"


def _merge_added(
    ours: Sequence[tuple[int, Section]],
    theirs: Sequence[tuple[int, Section]],
    prefer: Side,
    conflicts: list[str],
) -> list[tuple[int, Section]]:
    """New sections of both sides, ours first; one that both added alike comes once."""
    ties = _tie([section for _, section in theirs], [section for _, section in ours])
    merged = []
    for number, (after, section) in enumerate(ours):
        twin = theirs[ties[number]][1] if number in ties else section
        if twin.content != section.content:
            conflicts.append(_conflict(None, section, twin))
        merged.append((after, prefer.of(section, twin)))
    alone = [item for number, item in enumerate(theirs) if number not in ties.values()]
    return [*merged, *alone]


def _merge_order(ours: _Version, theirs: _Version, count: int) -> list[int]:
    """Base sections in the order of the side that moved some; ours if both did."""
    order = ours.order if ours.order != sorted(ours.order) else theirs.order
    for number in range(count):
        if number not in order:
            order.insert(order.index(number - 1) + 1, number)
    return order
