"""Conditional compilation: `#if` and its like, which C#, C and C++ have in common."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctx_indexer.syntax.blanks import Bytes, blank, merged_spans

_DIRECTIVE = re.compile(
    rb"^[ \t]{0,200}#[ \t]{0,20}(if|ifdef|ifndef|elif|else|endif)\b(?:[^\\\n]|\\[\s\S])*+",
    re.MULTILINE,
)
# Comments and texts, whose brackets need not match.
_NO_CODE = re.compile(
    rb"/\*(?:[^*]|\*(?!/))*+(?:\*/)?|//[^\n]*+|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"
)


def without_directives(source: bytes) -> bytes:
    """Blank the lines of `#if` and its like, and branches that would not parse together.

    Of branches that are no whole statements, as `if (a) {` and `if (b) {`, the first is kept.
    """
    spans: list[Bytes] = []
    open_groups: list[list[Bytes]] = []  # the directive lines of each group
    for match in _DIRECTIVE.finditer(source):
        if match.group(1).startswith(b"if"):
            open_groups.append([match.span()])
        elif open_groups:
            open_groups[-1].append(match.span())
            if match.group(1) == b"endif":
                spans += _dropped(source, open_groups.pop())
    return blank(source, merged_spans(spans))


def _dropped(source: bytes, lines: Sequence[Bytes]) -> Iterator[Bytes]:
    yield from lines
    branches = [(before[1], after[0]) for before, after in pairwise(lines)]
    if not all(_is_whole(source[start:end]) for start, end in branches):
        yield from branches[1:]


def _is_whole(part: bytes) -> bool:
    """Whether a branch has whole statements alone, as far as braces and its last line tell."""
    part = _NO_CODE.sub(b"", part)
    last = next(filter(None, (row.strip() for row in reversed(part.splitlines()))), b";")
    balanced = part.count(b"{") == part.count(b"}") and part.count(b"(") == part.count(b")")
    return balanced and (last[-1:] in b";}" or last.startswith(b"#"))
