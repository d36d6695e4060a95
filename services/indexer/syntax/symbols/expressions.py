"""Turns nodes of a syntax tree into expressions of a symbol table."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from services.indexer.syntax.symbols.table import (
    ATTRIBUTE,
    CALL,
    EITHER,
    ITEM,
    LITERAL,
    MAPPING,
    SEQUENCE,
    UNKNOWN,
    Expression,
)

MAX_DEPTH = 12  # nested expressions; a deeper one is generated, and unknown
MAX_ITEMS = 30  # elements kept of a literal
MAX_TEXT = 200  # bytes of a dotted name
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
_SEPARATORS = ("?.", "::", "->")


@dataclass(frozen=True)
class Shapes:
    """The node types of a language's expressions, with the fields of their parts."""

    attributes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)  # with the field of the function
    subscripts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    choices: frozenset[str] = frozenset()  # one of the children
    wrappers: frozenset[str] = frozenset()  # the same value as the last named child
    sequences: frozenset[str] = frozenset()
    mappings: frozenset[str] = frozenset()
    literals: Mapping[str, str] = field(default_factory=dict)  # with the name of the type
    functions: frozenset[str] = frozenset()  # lambdas
    names: frozenset[str] = frozenset()  # nodes whose text is a dotted name


class Expressions:
    """Reads expressions from the nodes of one file."""

    def __init__(
        self, source: bytes, shapes: Shapes, function: Callable[[Node], Expression]
    ) -> None:
        self._source = source
        self._shapes = shapes
        self._function = function

    def read(self, node: Node | None, depth: int = 0) -> Expression:
        """Return the expression of a node; UNKNOWN for what has no form here."""
        if node is None or depth > MAX_DEPTH:
            return UNKNOWN
        kind, shapes = node.type, self._shapes
        if kind in shapes.names or kind in shapes.attributes:
            dotted = self.dotted(node)
            if dotted or kind in shapes.names:
                return dotted
        return self._compound(node, kind, depth + 1)

    def dotted(self, node: Node) -> str:
        """Return the text of a node where it is a dotted name, else an empty one."""
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_TEXT:
            return UNKNOWN
        text = self._source[start:end].decode("utf-8", "replace")
        if text.isidentifier() or _DOTTED.match(text):
            return text
        text = "".join(text.split())
        for separator in _SEPARATORS:
            text = text.replace(separator, ".")
        return text if _DOTTED.match(text) else UNKNOWN

    def _compound(self, node: Node, kind: str, depth: int) -> Expression:
        shapes = self._shapes
        if fields := shapes.attributes.get(kind):
            owner = self.read(node.child_by_field_name(fields[0]), depth)
            name = node.child_by_field_name(fields[1])
            return attribute(owner, self.text(name)) if name is not None else UNKNOWN
        if function := shapes.calls.get(kind):
            callee = self.read(node.child_by_field_name(function), depth)
            return [CALL, callee] if callee else UNKNOWN
        if fields := shapes.subscripts.get(kind):
            return self._item(node, fields, depth)
        if kind in shapes.wrappers:
            children = node.named_children
            return self.read(children[-1], depth) if children else UNKNOWN
        if kind in shapes.choices:
            return [EITHER, *(self.read(child, depth) for child in node.named_children)]
        if kind in shapes.sequences:
            items = node.named_children[:MAX_ITEMS]
            return [SEQUENCE, *(self.read(child, depth) for child in items)]
        if kind in shapes.mappings:
            return self._mapping(node, depth)
        if kind in shapes.literals:
            return [LITERAL, shapes.literals[kind]]
        return self._function(node) if kind in shapes.functions else UNKNOWN

    def _item(self, node: Node, fields: tuple[str, str], depth: int) -> Expression:
        owner = self.read(node.child_by_field_name(fields[0]), depth)
        key = node.child_by_field_name(fields[1])
        return [ITEM, owner, self._key(key)] if owner else UNKNOWN

    def _key(self, node: Node | None) -> str:
        """Return the text of a literal key, an empty one for any other."""
        if node is None or node.type not in self._shapes.literals:
            return ""
        return self.text(node)

    def _mapping(self, node: Node, depth: int) -> Expression:
        pairs: list[Expression] = []
        for child in node.named_children[:MAX_ITEMS]:
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None:
                pairs += [self._key(key), self.read(value, depth)]
        return [MAPPING, *pairs]

    def text(self, node: Node) -> str:
        """Return the source text of a node, cut to a bound."""
        end = min(node.end_byte, node.start_byte + MAX_TEXT)
        return self._source[node.start_byte : end].decode("utf-8", "replace")


def attribute(owner: Expression, name: str) -> Expression:
    """Return the expression of an attribute of an owner."""
    if not owner:
        return [ATTRIBUTE, UNKNOWN, name]
    return f"{owner}.{name}" if isinstance(owner, str) else [ATTRIBUTE, owner, name]
