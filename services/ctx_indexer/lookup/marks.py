"""Marks a line of a file: a definition, an import, a call, a base class or something else."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctx_indexer.syntax.definitions import TYPES, Definition, flatten
from ctx_indexer.syntax.outline import Outline

_WORD = re.compile(r"\w+")
DEFINITION, IMPORT, CALL, BASE, OTHER = "definition", "import", "call", "base", "other"
MAX_HEAD_ROWS = 12  # of a class, from its name to the line that opens its body
_OPENS_BODY = (":", "{", "where", ";")


class Mark(NamedTuple):
    """The role of a line, and the qualified name of the innermost definition around it.

    `roles` are all of its roles: `class Cursor(Cursor)` defines one and has the other as a base.
    """

    role: str
    symbol: str
    roles: tuple[str, ...] = ()


class Marker:
    """Marks lines of one file by its outline."""

    def __init__(self, outline: Outline) -> None:
        self._definitions = flatten(outline.definitions)
        self._starts = [definition.start for definition in self._definitions]
        self._defined: dict[int, set[str]] = {}
        for definition in self._definitions:
            self._defined.setdefault(definition.head + 1, set()).add(definition.name)
        self._heads = {
            row + 1: definition.name if row == definition.head else ""
            for definition in self._definitions
            if definition.kind in TYPES
            for row in _head_rows(definition, outline.lines.rows)
        }
        self._imports = {reference.line for reference in outline.references.imports}
        self._calls: dict[int, set[str]] = {}
        for call in outline.references.calls:
            self._calls.setdefault(call.line, set()).add(_last_name(call.name))

    def mark(self, line: int, text: str, column: int) -> Mark:
        """Mark a line, counted from 1, with its text and the column where the match begins."""
        roles = tuple(self._roles(line, text, column))
        return Mark(roles[0] if roles else OTHER, self.symbol_at(line), roles)

    def _roles(self, line: int, text: str, column: int) -> Iterator[str]:
        """Yield the roles of a match; its word may stand in the line again, as a base."""
        word = _WORD.match(text, column)
        names = self._defined.get(line, ())
        if any(_spans(text, name, column) for name in names):
            yield DEFINITION
        if line in self._imports:
            yield IMPORT
        if word and any(name.endswith(word.group()) for name in self._calls.get(line, ())):
            yield CALL
        if line not in self._heads:
            return
        own = self._heads[line]
        after = text.find(own) + len(own)
        if column >= after or (word and _stands_in(text, word.group(), after)):
            yield BASE
        elif column < text.find(own):
            yield DEFINITION

    def symbol_at(self, line: int) -> str:
        """Return the path of the innermost definition that holds a line; "" outside of all."""
        innermost = innermost_at(self._definitions, self._starts, line - 1)
        return innermost.path if innermost else ""


def innermost_at(
    definitions: Sequence[Definition], starts: Sequence[int], row: int
) -> Definition | None:
    """Return the innermost of nested definitions, in the order of the text, that holds a row."""
    for at in range(bisect_right(starts, row) - 1, -1, -1):
        if definitions[at].end >= row:
            return definitions[at]
    return None


def _head_rows(definition: Definition, rows: Sequence[str]) -> range:
    """Return the rows of a class from its name to the one that opens its body."""
    last = min(definition.head + MAX_HEAD_ROWS, definition.end + 1, len(rows))
    for row in range(definition.head, last):
        if rows[row].rstrip().endswith(_OPENS_BODY):
            return range(definition.head, row + 1)
    return range(definition.head, definition.head + 1)


def _spans(text: str, name: str, column: int) -> bool:
    """Whether a column lies in the first place of a name: in `add(add)`, 1 does, 5 does not."""
    start = text.find(name)
    return 0 <= start <= column < start + len(name)


def _stands_in(text: str, word: str, start: int) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text[start:]) is not None


def _last_name(name: str) -> str:
    for separator in ("::", ".", "->"):
        name = name.rsplit(separator, 1)[-1]
    return name
