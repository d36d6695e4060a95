"""Reads the heads of functions and declarations: their parameters and types."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from ctx_indexer.syntax.symbols.expressions import Expressions
from ctx_indexer.syntax.symbols.nodes import Captures, declared_name, part
from ctx_indexer.syntax.symbols.spec import MAX_ANNOTATION, SymbolSpec
from ctx_indexer.syntax.symbols.table import (
    ARRAY,
    GENERIC,
    LITERAL,
    TUPLE,
    UNKNOWN,
    Expression,
    Parameter,
)

_REST = "..."  # the node of a parameter that takes any number of arguments
_VARIABLES = ("identifier", "field_identifier")
TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")


class Heads:
    """Reads the heads of functions and declarations in one file."""

    def __init__(self, expressions: Expressions, spec: SymbolSpec) -> None:
        self._expressions = expressions
        self._text = expressions.text
        self._spec = spec

    def parameters(self, node: Node) -> Iterator[Parameter]:
        """Read a list of parameters, or the only one of a lambda."""
        if not node.named_children and node.type in self._spec.shapes.names:
            yield Parameter(self._text(node))
        if self._spec.rest_modifier:
            yield from self._listed(node)
            return
        for each in node.named_children:
            if each.type not in self._spec.no_parameters and "comment" not in each.type:
                yield from self.parameter(each)
        if self._spec.holds and any(each.type == _REST for each in node.children):
            yield Parameter(f"*{_REST}")

    def _listed(self, node: Node) -> Iterator[Parameter]:
        """Read parameters whose modifiers and defaults stand beside them in the list."""
        found: list[Parameter] = []
        star = ""
        for each in node.named_children:
            if each.type in self._spec.no_parameters or "comment" in each.type:
                star = "*" if self._spec.rest_modifier in self._text(each) else star
            elif each.type in self._spec.parameters or not found:
                inner = any(child.type == self._spec.rest_modifier for child in each.children)
                star = "*" if inner else star
                found += [p._replace(name=star + p.name) for p in self.parameter(each)]
                star = ""
            else:
                found[-1] = found[-1]._replace(default=[LITERAL, ""])
        yield from found

    def parameter(self, node: Node) -> Iterator[Parameter]:
        spec = self._spec
        fields = spec.parameters.get(node.type)
        if node.type in spec.splats:
            text = self._text(node if not fields else part(node, fields[0]) or node)
            element = self.annotation(part(node, fields[1])) if fields else UNKNOWN
            rest: Expression = [GENERIC, ARRAY, element] if element else UNKNOWN
            yield Parameter(text if text.startswith("*") else f"*{text}", rest)
        elif fields is not None:
            kind = part(node, fields[1])
            default = part(node, fields[2])
            value = [LITERAL, ""] if spec.overloads else self._expressions.read(default)
            names: list[Node | None] = [part(node, fields[0])]
            if fields[0].isalpha():
                names = [*node.children_by_field_name(fields[0])] or names
            for each in names:
                name, is_function = declared_name(each) if each is not None else (None, False)
                annotation = UNKNOWN if is_function else self.pointed(self.annotation(kind), each)
                if annotation and node.type in spec.variadic:
                    annotation = [GENERIC, ARRAY, annotation]
                is_named = name is not None and not name.type.startswith("abstract_")
                written = self._text(name) if is_named and name is not None else ""
                yield Parameter(written, annotation, value if default else UNKNOWN)
        else:
            yield Parameter(self._text(node))

    def type(self, captures: Captures) -> Expression:
        """Return the type that a head or declaration names."""
        return self.annotation(captures["type"][0]) if "type" in captures else UNKNOWN

    def holds(self, captures: Captures, written: Node | None) -> bool:
        """Whether a declared name is the value itself, and no pointer to it."""
        if not self._spec.holds or written is None or written.type not in _VARIABLES:
            return False
        return TYPE_ARGUMENTS.search(self._text(captures["type"][0])) is None

    def pointed(self, type_: Expression, declarator: Node | None) -> Expression:
        """Return a type as a pointer where its declarator makes it one: `char *a` → `char*`."""
        if declarator is None or type_ not in self._spec.pointed:
            return type_
        is_pointer = any(each in declarator.type for each in ("pointer", "array"))
        return f"{type_}*" if is_pointer else type_

    def annotation(self, node: Node | None) -> Expression:
        """Read a type; one that stands for the assigned value is unknown: `auto`, `var`."""
        if node is not None and node.type in self._spec.tuples:
            return self._several(node)
        if node is not None and self._spec.annotations is not None:
            return self._spec.annotations(self._text(node, MAX_ANNOTATION + 1))
        value = self._expressions.read(node)
        return UNKNOWN if isinstance(value, str) and value in self._spec.untyped else value

    def _several(self, node: Node) -> Expression:
        """Read the types of several results: `(Cart, error)`; of `(cart Cart)` the only one."""
        parts: list[Expression] = []
        is_single = False
        for each in node.named_children:
            if each.type in self._spec.parameters:
                names = each.children_by_field_name("name")
                parts += [self._expressions.read(part(each, "type"))] * max(len(names), 1)
                is_single = len(parts) == 1
            elif "comment" not in each.type:
                parts.append(self._expressions.read(each))
        return parts[0] if is_single else [GENERIC, TUPLE, *parts]
