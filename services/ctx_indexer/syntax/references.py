"""The references of a source text: the modules it imports and the names it calls."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tree_sitter import Node, Tree

from ctx_indexer.syntax.grammar import Grammar

MAX_REFERENCE = 200  # characters; a longer one is an expression, not a name
# Comments: in most grammars their node type has this word in it, the others are listed.
COMMENT = "comment"
COMMENT_NODES = frozenset(["haddock", "pod", "description", "marginalia", "string_literal"])
_TRIM = "\"'`<>; \t"


class Reference(NamedTuple):
    """A name, and the line, counted from 1, that refers to it."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class References:
    """The references of a text in the order of its lines.

    `attached_rows` are the lines, counted from 0, that hold nothing but comments and decorators;
    `comment_rows` are the lines that hold nothing but comments and docstrings.
    """

    imports: tuple[Reference, ...] = ()
    calls: tuple[Reference, ...] = ()
    attached_rows: frozenset[int] = frozenset()
    comment_rows: frozenset[int] = frozenset()


NO_REFERENCES = References()


def find_references(
    tree: Tree, source: bytes, grammar: Grammar, line_starts: list[int], name_bytes: frozenset[int]
) -> References:
    """Find references with the grammar's query; `name_bytes` are where definitions have names."""
    captures = grammar.reference_captures(tree)
    attached = captures.get("attached", [])
    comments = [node for node in attached if node.type in COMMENT_NODES or COMMENT in node.type]
    return References(
        _references(captures.get("import", []), source, line_starts, frozenset()),
        _references(captures.get("call", []), source, line_starts, name_bytes),
        _whole_rows(attached, source, line_starts),
        _whole_rows([*comments, *captures.get("docstring", [])], source, line_starts),
    )


def _references(
    nodes: list[Node], source: bytes, line_starts: list[int], excluded: frozenset[int]
) -> tuple[Reference, ...]:
    """Name each node, sorted by line and name; drop nodes that start at excluded bytes."""
    references = []
    for node in nodes:
        start = node.start_byte
        if start in excluded:
            continue
        name = source[start : node.end_byte].decode("utf-8", "replace")
        if not name.isidentifier():
            name = " ".join(name.split()).removeprefix("import ").strip(_TRIM)
        if name and len(name) <= MAX_REFERENCE:
            references.append(Reference(name, bisect_right(line_starts, start)))
    references.sort(key=lambda reference: (reference.line, reference.name))
    return tuple(references)


def _whole_rows(nodes: list[Node], source: bytes, line_starts: list[int]) -> frozenset[int]:
    """Collect the lines that hold nothing but these nodes."""
    rows: set[int] = set()
    for node in nodes:
        start, end = node.start_byte, node.end_byte
        first = bisect_right(line_starts, start) - 1
        if source[line_starts[first] : start].strip():
            continue  # a comment after code
        last = bisect_right(line_starts, max(end - 1, start)) - 1
        if source[end : line_starts[last + 1]].strip():
            last -= 1  # code after the comment
        rows.update(range(first, last + 1))
    return frozenset(rows)


def references_within(
    references: Sequence[Reference], start_line: int, end_line: int
) -> tuple[Reference, ...]:
    """Return the references between two lines, both included and counted from 1, each name once."""
    first: dict[str, Reference] = {}
    start = bisect_left(references, start_line, key=lambda reference: reference.line)
    for reference in references[start:]:
        if reference.line > end_line:
            break
        first.setdefault(reference.name, reference)
    return tuple(first.values())
