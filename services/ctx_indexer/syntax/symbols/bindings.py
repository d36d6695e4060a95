"""Bindings of names: patterns are taken apart, declared variables get their types and scopes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tree_sitter import Node

from ctx_indexer.syntax.symbols.blocks import CHANGES, target_nodes
from ctx_indexer.syntax.symbols.nodes import Captures
from ctx_indexer.syntax.symbols.scopes import Scopes
from ctx_indexer.syntax.symbols.spec import SymbolSpec
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    ATTRIBUTE,
    CALL,
    CHANGED,
    EITHER,
    FILE_SCOPE,
    ITEM,
    ITERATED,
    LAMBDA,
    MAPPING,
    OUTER,
    SEQUENCE,
    TYPED,
    UNKNOWN,
    Binding,
    Expression,
    Scope,
)

EMPTY = "empty"  # set by a pattern that declares a variable without a value
INSIDE = "inside"  # set by a pattern that declares a name in the scope in which its type stands
Part = tuple[Expression, str, Expression]  # a target, how it comes by its value, the value


def parts(spec: SymbolSpec, target: Expression, how: str, value: Expression) -> Iterator[Part]:
    """Yield the targets of a pattern with their values: `a, b = pair` → `a` = `pair[0]`, ….

    Names of an object take its attributes: `{ cart } = shop` → `cart` = `shop.cart`.
    """
    if not target:
        return
    if isinstance(target, list) and target[0] == SEQUENCE:
        if how == ITERATED and value and spec.reads:
            how, value = ASSIGNED, [ITERATED, value]
        for position, each in enumerate(target[1:]):
            yield from parts(spec, each, how, _item(spec, value, position))
    elif isinstance(target, list) and target[0] == MAPPING:
        for key, each in zip(target[1::2], target[2::2], strict=False):
            yield from parts(spec, each, how, [ATTRIBUTE, value, key] if key else UNKNOWN)
    elif not isinstance(target, list) or target[0] not in (CALL, LAMBDA):
        yield target, how, value


def _item(spec: SymbolSpec, value: Expression, position: int) -> Expression:
    if isinstance(value, list) and value[0] == SEQUENCE and position + 1 < len(value):
        part: Expression = value[position + 1]
        return part
    if spec.comma_ok and value[:1] != [CALL]:
        return value if position == 0 else UNKNOWN
    return [ITEM, value, str(position)] if value else UNKNOWN


def declared(
    captures: Captures, settings: Mapping[str, Any], scopes: Scopes
) -> Iterator[tuple[int, Expression, str, Expression]]:
    """Yield the scope, target, way and value of each variable that a match declares.

    `var server *Server = open()` → (0, "server", TYPED, "Server"), then its value as a change.
    """
    read = scopes.expressions.read
    value = read(captures["value"][0]) if "value" in captures else UNKNOWN
    kind = scopes.heads.type(captures)
    for node, target in _targets(captures, scopes):
        written = captures["type"][0] if INSIDE in settings else node
        number = scopes.at(written.start_byte)
        if kind:
            yield number, target, TYPED, kind
        if not kind or value:
            empty = [EITHER] if EMPTY in settings else UNKNOWN
            yield number, target, ASSIGNED, [CHANGED, value] if kind else value or empty


def _targets(captures: Captures, scopes: Scopes) -> Iterator[tuple[Node, Expression]]:
    """Yield declared names with their nodes: `var a, err = f()` declares one pair of names."""
    expressions, nodes = scopes.expressions, target_nodes(captures)
    read = [
        expressions.read(node) or ("" if node.named_children else expressions.dotted(node))
        for node in nodes
    ]
    if "target" in captures or len(nodes) == 1:
        yield from zip(nodes, read, strict=True)
    elif nodes:
        yield nodes[0], [SEQUENCE, *read]


class Hiding:
    """Notes declarations that hide a name and use it in their value: `store := store.New()`."""

    def __init__(self) -> None:
        # The bytes of values, by the scope and name of the declared variable.
        self._noted: dict[tuple[int, str], list[tuple[int, int]]] = {}

    def noted(
        self, captures: Captures, settings: Mapping[str, Any], bindings: Sequence[Binding]
    ) -> Sequence[Binding]:
        """Note the bindings of a match; return them, an assignment marked as CHANGED."""
        for value in captures.get("value", ()):
            for each in bindings:
                if _first_name(each.value) == each.target:
                    place = (each.scope, str(each.target))
                    self._noted.setdefault(place, []).append((value.start_byte, value.end_byte))
        if CHANGES not in settings:
            return bindings
        return [each._replace(value=[CHANGED, each.value]) for each in bindings]

    def placed(self, bindings: Sequence[Binding], scopes: Sequence[Scope]) -> list[Binding]:
        """Return all bindings in their scopes; forget notes of values without OUTER."""
        found = list(_in_their_scopes(bindings, scopes))
        hiding = {(each.scope, each.target) for each in found if each.value[:1] == [OUTER]}
        self._noted = {place: each for place, each in self._noted.items() if place in hiding}
        return found

    def outside(self, node: Node, scope: int, function: Expression) -> Expression:
        """Mark the call of a name that its declaration hides: `store := store.New()` → OUTER."""
        noted = self._noted.get((scope, _first_name(function)), ()) if self._noted else ()
        is_inside = any(start <= node.start_byte < end for start, end in noted)
        return [OUTER, function] if is_inside else function


def _in_their_scopes(bindings: Sequence[Binding], scopes: Sequence[Scope]) -> Iterator[Binding]:
    """Yield bindings in the scopes that declare their names.

    An assignment moves to the scope of the declaration: in `x := 1; func() { x = f() }` it binds
    the outer `x`, its value unknown there because `f` may mean another function. A declaration
    that uses the name it declares reads the scope around: `store := store.New()` → OUTER.
    """
    counts = _declarations(bindings, scopes)
    for each in bindings:
        if not isinstance(each.target, str) or "." in each.target:
            yield each
        elif _is_changed(each.value):
            yield _moved(each, scopes, counts)
        elif _first_name(each.value) == each.target and _is_only(each, counts):
            yield each._replace(value=[OUTER, each.value])
        else:
            yield each


def _is_only(binding: Binding, counts: Mapping[tuple[int, str], int]) -> bool:
    return binding.scope > FILE_SCOPE and counts[binding.scope, str(binding.target)] == 1


def _declarations(
    bindings: Sequence[Binding], scopes: Sequence[Scope]
) -> dict[tuple[int, str], int]:
    """Count the declarations of each name in each scope."""
    counts: dict[tuple[int, str], int] = {}
    places = [
        (each.scope, each.target)
        for each in bindings
        if isinstance(each.target, str) and not _is_changed(each.value)
    ]
    for number, scope in enumerate(scopes):
        places += [(number, each.name) for each in scope.parameters]
        places += [(number, scope.receiver)] if scope.receiver else []
    for place in places:
        counts[place] = counts.get(place, 0) + 1
    return counts


def _moved(
    binding: Binding, scopes: Sequence[Scope], counts: Mapping[tuple[int, str], int]
) -> Binding:
    """Return an assignment as one of the scope that declares its name; else of the file."""
    number = binding.scope
    while number > FILE_SCOPE and (number, binding.target) not in counts:
        number = scopes[number].parent
    if number == binding.scope:
        return binding
    value = binding.value[1]
    if isinstance(value, str) or value[0] != LAMBDA:
        value = UNKNOWN
    return Binding(number, binding.target, binding.how, [CHANGED, value])


def _is_changed(value: Expression) -> bool:
    return isinstance(value, list) and value[0] == CHANGED


def _first_name(expression: Expression) -> str:
    """Return the name that an expression begins with; empty where it has none."""
    while isinstance(expression, list):
        expression = expression[1] if len(expression) > 1 else UNKNOWN
        if isinstance(expression, int):
            return UNKNOWN
    return expression.partition(".")[0]
