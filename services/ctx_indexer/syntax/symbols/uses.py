"""Collects the uses of one file: calls, and attributes that are read or assigned."""

from collections.abc import Mapping, Sequence
from typing import Any

from tree_sitter import Node

from ctx_indexer.syntax.symbols.bindings import Hiding
from ctx_indexer.syntax.symbols.expressions import MAX_ARGUMENTS
from ctx_indexer.syntax.symbols.nodes import Captures, part
from ctx_indexer.syntax.symbols.scopes import Scopes
from ctx_indexer.syntax.symbols.spec import SymbolSpec
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    BY_NAME,
    NEW,
    UNKNOWN,
    Binding,
    Call,
    Expression,
    Read,
    attribute,
    plain,
)

_Range = tuple[int, int]  # bytes


class Uses:
    """The calls and reads of one file, by the shapes of its language."""

    def __init__(self, spec: SymbolSpec, scopes: Scopes) -> None:
        self._spec = spec
        self._scopes = scopes
        self._expressions = scopes.expressions
        self._called: set[_Range] = set()
        self._assigned: set[_Range] = set()
        self.calls: list[Call] = []
        self.reads: list[Read] = []

    def assign(self, node: Node) -> None:
        """Note a target of an assignment: `cart.total = 1` assigns the attribute and reads none."""
        self._assigned.add((node.start_byte, node.end_byte))

    def add(self, scope: int, byte: int, function: Expression, given: Sequence[Any] = ()) -> None:
        """Add a call at the line of a byte."""
        self.calls.append(Call(scope, self._scopes.line(byte), function, given))

    def run(self, scope: int, node: Node, value: Expression, method: str) -> None:
        """Add the call of a method that other syntax runs: `with value:` runs `__enter__`."""
        self.add(scope, node.start_byte, attribute(value, method))

    def capture(self, node: Node, captures: Captures, settings: Mapping[str, Any]) -> None:
        """Read a call that only the query knows; one that constructs has `new` set."""
        callee = captures["function"][0]
        self._called.add((callee.start_byte, callee.end_byte))
        if function := plain(self._expressions.read(callee)):
            given = captures.get("arguments")
            arguments = self._arguments(given[0]) if given else []
            called: Expression = [NEW, function] if "new" in settings else function
            self.add(self._scopes.at(node.start_byte), callee.end_byte - 1, called, arguments)

    def read_calls(self, nodes: Sequence[Node], hiding: Hiding) -> None:
        """Read calls, when all bindings have been read."""
        for node in nodes:
            function, arguments, byte = self._expressions.callee(node)
            self._called.add((node.start_byte, byte + 1))
            if not function or self._expressions.is_cast(node):
                continue
            given = self._arguments(arguments) if arguments is not None else []
            scope = self._scopes.at(node.start_byte)
            called = hiding.outside(node, scope, function)
            if self._spec.marks_new and node.type in self._spec.shapes.constructs:
                called = [NEW, function]
            self.add(scope, byte, called, given)
            if isinstance(function, str) and function in self._spec.runs and given and given[0]:
                self.run(scope, node, given[0], self._spec.runs[function])

    def read_bare_calls(self, nodes: Sequence[Node], bindings: Sequence[Binding]) -> None:
        """Read names that call where nothing binds them: `deploy` of Ruby alone in a line."""
        if not nodes:
            return
        bound = {(each.scope, each.target) for each in bindings if isinstance(each.target, str)}
        for number, head in enumerate(self._scopes.all):
            bound.update((number, each.name.lstrip("*&")) for each in head.parameters)
        for node in nodes:
            parent = node.parent
            if parent is None or parent.type not in self._spec.bare_calls[node.type]:
                continue
            if any(parent.child_by_field_name(each) == node for each in ("left", "method")):
                continue
            name, scope = self._expressions.text(node), self._scopes.at(node.start_byte)
            around: int = scope
            while around > 0 and (around, name) not in bound:
                around = self._scopes.all[around].parent
            if (around, name) not in bound and name.isidentifier():
                self.add(scope, node.start_byte, name)

    def _arguments(self, node: Node) -> list[Any]:
        if node.end_byte - node.start_byte <= len("()"):
            return []
        read, spec = self._expressions.read, self._spec
        arguments: list[Any] = []
        given: list[Node] = []
        for child in node.named_children:
            given += child.named_children if child.type in spec.argument_lists else [child]
        given = [each for each in given if "comment" not in each.type]
        for each in given[:MAX_ARGUMENTS]:
            fields = spec.keyword_arguments.get(each.type)
            name = part(each, fields[0]) if fields else None
            if fields and name is not None:
                value = read(part(each, fields[1]))
                arguments.append([BY_NAME, self._expressions.text(name), value])
            elif spec.overloads:
                arguments.append(read(each))
            else:
                arguments.append(UNKNOWN if each.type in spec.shapes.literals else read(each))
        while arguments and not arguments[-1] and not spec.overloads:
            arguments.pop()
        return arguments

    def read_attributes(self, nodes: Sequence[Node]) -> None:
        """Read the longest attribute that begins at each byte: of `a.b.c` the whole.

        An attribute that a line reads several times is kept once.
        """
        longest: dict[int, tuple[int, Node]] = {}
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            if start not in longest or longest[start][0] < end:
                longest[start] = (end, node)
        found: dict[Any, Read] = {}
        for start, (end, node) in longest.items():
            if (start, end) not in self._called and (value := self._expressions.read(node)):
                how = ASSIGNED if self._is_assigned(node) else ""
                read = Read(self._scopes.at(start), self._scopes.line(end - 1), value, how)
                found.setdefault(read if isinstance(value, str) else str(read), read)
        self.reads = list(found.values())

    def _is_assigned(self, node: Node) -> bool:
        """Whether a node is the target of an assignment, or one of several targets."""
        if (node.start_byte, node.end_byte) in self._assigned:
            return True
        return node.parent is not None and node.parent.type in self._spec.targets
