"""The titles of Markdown and reStructuredText."""

import re
from collections.abc import Iterator, Sequence

from ctx_indexer.languages.protocol import Title

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_NOT_TITLE = re.compile(r"\s*(?:[-*+>|]|\d+[.)]|$)|\s{4}")
_LINK = re.compile(r"!?\[([^\[\]]*+)\](?:\((?:[^()]|\([^()]*+\))*+\)|\[[^\[\]]*+\])")
FRONT_MATTER = "---"


def markdown_titles(rows: Sequence[str]) -> Iterator[Title]:
    """Yield line, level and title of each heading outside fenced code and front matter."""
    fence = ""
    row = _after_front_matter(rows)
    while row < len(rows):
        line = rows[row]
        if match := _FENCE.match(line):
            mark = match.group(1)
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not line.strip(" \t`~"):
                fence = ""
        elif not fence:
            if match := _ATX.match(line):
                yield row, len(match.group(1)), _plain(_unclosed(match.group(2) or ""))
            elif _underlined(rows, row):
                yield row, 1 if rows[row + 1].lstrip()[0] == "=" else 2, _plain(line)
                row += 1
        row += 1


def _unclosed(title: str) -> str:
    """Return a title without the row of # that may close it."""
    title = title.strip(" \t")
    rest = title.rstrip("#")
    return rest if not rest or rest[-1] in " \t" else title


def _after_front_matter(rows: Sequence[str]) -> int:
    if rows[0].rstrip() != FRONT_MATTER:
        return 0
    ends = (i for i in range(1, len(rows)) if rows[i].rstrip() == FRONT_MATTER)
    return next(ends, -1) + 1


def _underlined(rows: Sequence[str], row: int) -> bool:
    """Whether a line is a paragraph of its own with a row of = or - below it."""
    following = rows[row + 1] if row + 1 < len(rows) else ""
    return (
        _SETEXT.match(following) is not None
        and _NOT_TITLE.match(rows[row]) is None
        and (row == 0 or not rows[row - 1].strip())
    )


def rst_titles(rows: Sequence[str]) -> Iterator[Title]:
    """Yield line, level and title of each title above a row of punctuation of its length.

    Levels follow the order in which the punctuation first appears.
    """
    levels: dict[tuple[str, bool], int] = {}
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
