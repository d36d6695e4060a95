"""What a file refers to: the modules it imports, the names it calls, and the lines of comments."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from tree_sitter import Node, Tree

from services.indexer.syntax.grammar import Grammar

MAX_REFERENCE = 200  # a longer one is an expression, not a name
_TRIM = "\"'`<>; \t"


class Reference(NamedTuple):
    """A name and the line, from 1, where it is first referred to."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class References:
    """The references of a whole file, in its order, and the lines that hold comments only."""

    imports: tuple[tuple[int, str], ...] = ()
    calls: tuple[tuple[int, str], ...] = ()
    attached: frozenset[int] = frozenset()


def references_in(
    tree: Tree, source: bytes, grammar: Grammar, starts: list[int], defined: frozenset[int]
) -> References:
    """What the grammar's query finds; `defined` are the bytes where names are defined, not used."""
    captures = grammar.find_references(tree)
    return References(
        _names(captures.get("import", []), source, starts, frozenset()),
        _names(captures.get("call", []), source, starts, defined),
        _attached(captures.get("attached", []), source, starts),
    )


def _names(
    nodes: list[Node], source: bytes, starts: list[int], left_out: frozenset[int]
) -> tuple[tuple[int, str], ...]:
    found = []
    for node in nodes:
        start = node.start_byte
        if start in left_out:
            continue
        name = source[start : node.end_byte].decode("utf-8", "replace")
        if not name.isidentifier():
            name = " ".join(name.split()).removeprefix("import ").strip(_TRIM)
        if name and len(name) <= MAX_REFERENCE:
            found.append((bisect_right(starts, start) - 1, name))
    found.sort()
    return tuple(found)


def _attached(nodes: list[Node], source: bytes, starts: list[int]) -> frozenset[int]:
    """Lines on which nothing stands but comments and decorators."""
    rows: set[int] = set()
    for node in nodes:
        start, end = node.start_byte, node.end_byte
        first = bisect_right(starts, start) - 1
        if source[starts[first] : start].strip():
            continue  # a comment after code
        last = bisect_right(starts, max(end - 1, start)) - 1
        if source[end : starts[last + 1]].strip():
            last -= 1  # code after it
        rows.update(range(first, last + 1))
    return frozenset(rows)


def within(references: tuple[tuple[int, str], ...], start: int, end: int) -> tuple[Reference, ...]:
    """Those of the lines from start to end, each name once."""
    first: dict[str, int] = {}
    for row, name in references[bisect_left(references, (start, "")) :]:
        if row > end:
            break
        first.setdefault(name, row + 1)
    return tuple(Reference(name, line) for name, line in first.items())
