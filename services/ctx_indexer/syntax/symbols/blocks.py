"""Chooses the blocks that become scopes: a block with a name that its function declares twice.

In `x := a(); { x := b(); x.run() }` the inner block is a scope, in `{ x := b() }` alone it is none.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tree_sitter import Node

from ctx_indexer.syntax.symbols.nodes import Captures
from ctx_indexer.syntax.symbols.spec import SymbolSpec

BLOCK_EVENT = "block"
CHANGES = "changes"  # set by a pattern that assigns to a name declared before: `x = 1` of Go
_FUNCTIONS = frozenset(["function", "lambda"])
_DECLARING = frozenset(["assign", "loop"])

Event = tuple[str, Node, Captures, int]  # kind, node, captures, number of the pattern
_Range = tuple[int, int]


class _Declared(NamedTuple):
    """A name that is declared at a byte."""

    byte: int
    name: str


def with_needed_blocks(
    events: Sequence[Event], settings: Sequence[Mapping[str, Any]], spec: SymbolSpec
) -> list[Event]:
    """Keep a block as a scope only where its function declares a name of it elsewhere, too."""
    if not any(kind == BLOCK_EVENT for kind, *_ in events):
        return list(events)
    places: dict[tuple[_Range, str], set[_Range]] = defaultdict(set)
    for function, block, name in _declarations(events, settings, spec):
        places[function, name].add(block)
    needed = {block for blocks in places.values() if len(blocks) > 1 for block in blocks}
    return [
        event
        for event in events
        if event[0] != BLOCK_EVENT or _range(event[1]) in needed or "always" in settings[event[3]]
    ]


def _declarations(
    events: Sequence[Event], settings: Sequence[Mapping[str, Any]], spec: SymbolSpec
) -> Iterator[tuple[_Range, _Range, str]]:
    """Yield the names that functions declare, each with its function and innermost block."""
    ranges: list[tuple[int, int, bool]] = []
    declared: set[_Declared] = set()
    for kind, node, captures, pattern in events:
        if kind in _FUNCTIONS or kind == BLOCK_EVENT:
            start, end = _range(node)
            ranges.append((start, -end, kind in _FUNCTIONS))
            declared.update(_names(captures.get("parameters", ()), spec))
            declared.update(_names(captures.get("self", ()), spec))
        elif kind in _DECLARING and CHANGES not in settings[pattern]:
            declared.update(_names(target_nodes(captures), spec))
    around: list[tuple[_Range, bool]] = []
    pending = sorted(set(ranges), reverse=True)
    for each in sorted(declared):
        while pending and pending[-1][0] < each.byte:
            start, end, is_function = pending.pop()
            around.append(((start, -end), is_function))
        around = [one for one in around if one[0][1] > each.byte]
        functions = [place for place, is_function in around if is_function]
        if functions and each.name not in spec.common:
            yield functions[-1], around[-1][0], each.name


def target_nodes(captures: Captures) -> Sequence[Node]:
    """Return the declared nodes of a match: its captured targets, else all its names."""
    if "target" in captures or "on.assign" not in captures:
        return captures.get("target", ())
    return captures["on.assign"][0].children_by_field_name("name")


def _names(nodes: Sequence[Node], spec: SymbolSpec) -> Iterator[_Declared]:
    for node in nodes:
        if node.type == "identifier" and node.text is not None:
            yield _Declared(node.start_byte, node.text.decode("utf-8", "replace"))
        elif node.type in spec.name_lists:
            yield from _names(node.named_children, spec)


def _range(node: Node) -> _Range:
    return node.start_byte, node.end_byte
