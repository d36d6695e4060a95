"""The headings of prose, as definitions of sections."""

from collections.abc import Iterable

from ctx_indexer.languages.protocol import Title
from ctx_indexer.syntax.definitions import Capture, Definition, nest
from ctx_indexer.syntax.lines import Lines

SEPARATOR = " > "  # joins the path of a heading, of which a dot may be a part


def headings(lines: Lines, found: Iterable[Title]) -> list[Definition]:
    """Return sections as definitions: each ends before the next heading of its level or above."""
    titles = list(found)
    last = len(lines.rows) - (not lines.rows[-1])  # no line follows the last line end
    sections = []
    ends = _section_ends([level for _, level, _ in titles], [row for row, _, _ in titles], last)
    for (row, _level, title), end in zip(titles, ends, strict=True):
        sections.append(Capture(row, end, row, end - 1, "heading", title))
    return nest(sections, SEPARATOR)


def _section_ends(levels: list[int], rows: list[int], last: int) -> list[int]:
    """Return the line behind each section: of levels 1, 2, 1 on lines 0, 3, 5 → 5, 5, the last."""
    ends = [last] * len(levels)
    open_sections: list[int] = []
    for number, level in enumerate(levels):
        while open_sections and levels[open_sections[-1]] >= level:
            ends[open_sections.pop()] = rows[number]
        open_sections.append(number)
    return ends
