"""The headings of Markdown and reStructuredText, as definitions."""

import re
from collections.abc import Iterator

from ctx_indexer.syntax.definitions import Capture, Definition, nest
from ctx_indexer.syntax.lines import Lines

HEADING_LANGUAGES = frozenset(["markdown", "rst"])
SEPARATOR = " > "  # of a heading's path; a dot may be part of a heading
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_NOT_TITLE = re.compile(r"\s*(?:[-*+>|]|\d+[.)]|$)|\s{4}")
_LINK = re.compile(r"!?\[([^\[\]]*+)\](?:\((?:[^()]|\([^()]*+\))*+\)|\[[^\[\]]*+\])")
FRONT_MATTER = "---"


def headings(lines: Lines, language: str) -> list[Definition]:
    """Return sections as definitions: each ends before the next heading of its level or above."""
    titles = list(_markdown(lines) if language == "markdown" else _rst(lines))
    last = len(lines.rows) - (not lines.rows[-1])  # what follows the last line end is no line
    sections = []
    ends = _section_ends([level for _, level, _ in titles], [row for row, _, _ in titles], last)
    for (row, _level, title), end in zip(titles, ends, strict=True):
        sections.append(Capture(row, end, row, end - 1, "heading", title))
    return nest(sections, SEPARATOR)


def _section_ends(levels: list[int], rows: list[int], last: int) -> list[int]:
    """Return the line after the last one of each section."""
    ends = [last] * len(levels)
    open_sections: list[int] = []
    for number, level in enumerate(levels):
        while open_sections and levels[open_sections[-1]] >= level:
            ends[open_sections.pop()] = rows[number]
        open_sections.append(number)
    return ends


def _markdown(lines: Lines) -> Iterator[tuple[int, int, str]]:
    """Yield line, level and title of each heading outside fenced code and front matter."""
    fence = ""
    row = _after_front_matter(lines)
    while row < len(lines.rows):
        line = lines.rows[row]
        if match := _FENCE.match(line):
            mark = match.group(1)
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not line.strip(" \t`~"):
                fence = ""
        elif not fence:
            if match := _ATX.match(line):
                yield row, len(match.group(1)), _plain(_unclosed(match.group(2) or ""))
            elif _underlined(lines, row):
                yield row, 1 if lines.rows[row + 1].lstrip()[0] == "=" else 2, _plain(line)
                row += 1
        row += 1


def _unclosed(title: str) -> str:
    """Return a title without the row of # that may close it."""
    title = title.strip(" \t")
    rest = title.rstrip("#")
    return rest if not rest or rest[-1] in " \t" else title


def _after_front_matter(lines: Lines) -> int:
    if lines.rows[0].rstrip() != FRONT_MATTER:
        return 0
    ends = (i for i in range(1, len(lines.rows)) if lines.rows[i].rstrip() == FRONT_MATTER)
    return next(ends, -1) + 1


def _underlined(lines: Lines, row: int) -> bool:
    """Whether a line is a paragraph of its own with a row of = or - below it."""
    following = lines.rows[row + 1] if row + 1 < len(lines.rows) else ""
    return (
        _SETEXT.match(following) is not None
        and _NOT_TITLE.match(lines.rows[row]) is None
        and (row == 0 or not lines.rows[row - 1].strip())
    )


def _rst(lines: Lines) -> Iterator[tuple[int, int, str]]:
    """Yield line, level and title of each title above a row of punctuation of its length.

    Levels follow the order in which the punctuation first appears.
    """
    levels: dict[tuple[str, bool], int] = {}
    rows = lines.rows
    for row in range(len(rows) - 1):
        title, below = rows[row].rstrip(), rows[row + 1].rstrip()
        if not title or _ADORNMENT.match(title) or not _ADORNMENT.match(below):
            continue
        above = rows[row - 1].rstrip() if row else ""
        over = above == below
        if len(below) < len(title.strip()) or (title[0].isspace() and not over):
            continue
        if above and not over:
            continue
        level = levels.setdefault((below[0], over), len(levels) + 1)
        yield row - over, level, title.strip()


def _plain(title: str) -> str:
    return _LINK.sub(r"\1", title).strip().strip("*_` ") or "untitled"
