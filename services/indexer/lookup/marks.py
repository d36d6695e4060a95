"""What a line of a file is: a definition, an import, a call or something else."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from services.indexer.syntax.definitions import Definition, flatten
from services.indexer.syntax.outline import Outline

_WORD = re.compile(r"\w+")
DEFINITION, IMPORT, CALL, OTHER = "definition", "import", "call", "other"


class Mark(NamedTuple):
    """What a line is, and the qualified name of the innermost definition around it."""

    role: str
    symbol: str


class Marker:
    """Marks lines of one file by its outline."""

    def __init__(self, outline: Outline) -> None:
        self._definitions = flatten(outline.definitions)
        self._starts = [definition.start for definition in self._definitions]
        self._defined: dict[int, set[str]] = {}
        for definition in self._definitions:
            self._defined.setdefault(definition.head + 1, set()).add(definition.name)
        self._imports = {reference.line for reference in outline.references.imports}
        self._calls: dict[int, set[str]] = {}
        for call in outline.references.calls:
            self._calls.setdefault(call.line, set()).add(_last_name(call.name))

    def mark(self, line: int, matched: str) -> Mark:
        """Mark a line, counted from 1; `matched` is the text from the match on."""
        return Mark(self._role(line, matched), self.symbol_at(line))

    def _role(self, line: int, matched: str) -> str:
        if any(_begins(matched, name) for name in self._defined.get(line, ())):
            return DEFINITION
        if line in self._imports:
            return IMPORT
        if any(_begins(matched, name) for name in self._calls.get(line, ())):
            return CALL
        return OTHER

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


def _begins(matched: str, name: str) -> bool:
    """Whether the matched text begins with the name, or with the rest of it."""
    word = _WORD.match(matched)
    return word is not None and name.endswith(word.group())


def _last_name(name: str) -> str:
    for separator in ("::", ".", "->"):
        name = name.rsplit(separator, 1)[-1]
    return name
