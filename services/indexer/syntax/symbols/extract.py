"""Builds the symbol table of a file from its syntax tree, by a query per language.

A pattern of `queries/symbols/<language>.scm` captures its whole node as `@on.<event>` and the
parts of it by plain names.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from tree_sitter import Node, Query, QueryCursor, Tree

from services.indexer.syntax.grammar import QUERIES, QUERY_SECONDS, Grammar
from services.indexer.syntax.symbols.expressions import Expressions
from services.indexer.syntax.symbols.languages import SPECS, SymbolSpec
from services.indexer.syntax.symbols.table import (
    ASSIGNED,
    ATTRIBUTE,
    BY_NAME,
    CALL,
    CLASS,
    ENTERED,
    FILE_SCOPE,
    FUNCTION,
    ITEM,
    ITERATED,
    LAMBDA,
    LITERAL,
    MODULE,
    SEQUENCE,
    TYPED,
    UNKNOWN,
    Binding,
    Call,
    Expression,
    Import,
    Parameter,
    Read,
    Result,
    Scope,
    SymbolTable,
    last_name,
)

EVENT = "on."
ATTRIBUTE_NODE = "attribute"
LAMBDA_NAME = "<lambda{}>"
MAX_ARGUMENTS = 20
Captures = dict[str, list[Node]]


def extract_symbols(
    tree: Tree, source: bytes, grammar: Grammar, language: str, line_starts: Sequence[int]
) -> SymbolTable | None:
    """Build the table; None for a language without a query of symbols. Blocks."""
    spec = SPECS.get(language)
    if spec is None:
        return None
    extraction = _Extraction(source, spec, line_starts)
    extraction.read(_cursor(_query(grammar, spec.query)).matches(tree.root_node))
    for type_ in spec.shapes.attributes:
        captures = _cursor(_attributes(grammar, type_)).captures(tree.root_node)
        extraction.read_attributes(captures.get(ATTRIBUTE_NODE, ()))
    return extraction.table(language)


def _cursor(query: Query) -> QueryCursor:
    return QueryCursor(query, timeout_micros=int(QUERY_SECONDS * 1_000_000))


@cache
def _attributes(grammar: Grammar, node_type: str) -> Query:
    """Return the query of attributes: captures are cheaper than matches, and there are many."""
    return Query(grammar.language, f"({node_type}) @{ATTRIBUTE_NODE}")


@cache
def _query(grammar: Grammar, name: str) -> Query:
    text = (QUERIES / "symbols" / f"{name}.scm").read_text(encoding="utf-8")
    return Query(grammar.language, text)


class _Extraction:
    """Collects the parts of one table."""

    def __init__(self, source: bytes, spec: SymbolSpec, line_starts: Sequence[int]) -> None:
        self._spec = spec
        self._starts = line_starts
        self._scopes = [Scope("", "", MODULE, 1, max(len(line_starts) - 1, 1), -1)]
        self._ranges: list[tuple[int, int, int]] = []  # of scopes: start, end, number
        self._by_node: dict[int, int] = {}  # a scope by the first byte of its node
        self._expressions = Expressions(source, spec.shapes, self._lambda)
        self._text = self._expressions.text
        self._lambdas: Counter[int] = Counter()  # by the scope around them
        self._bindings: list[Binding] = []
        self._imports: list[Import] = []
        self._results: list[Result] = []
        self._calls: list[Call] = []
        self._used: set[tuple[int, int]] = set()  # byte ranges of what is called or assigned
        self._reads: dict[tuple[int, str], Read] = {}

    def read(self, matches: Sequence[tuple[int, Captures]]) -> None:
        """Read all matches of the query: scopes first, then what is in them."""
        names: dict[int, str] = {}  # of events, by pattern
        events = [
            (name[len(EVENT) :], captures[name][0], captures)
            for pattern, captures in matches
            if (name := names.get(pattern) or names.setdefault(pattern, _event_name(captures)))
        ]
        opened = [event for event in events if event[0] in _SCOPE_KINDS]
        opened.sort(key=lambda event: (event[1].start_byte, -event[1].end_byte))
        for kind, node, captures in opened:
            self._open(kind, node, captures)
        for kind, node, captures in opened:
            self._complete(kind, node, captures)
        for kind, node, captures in events:
            if reader := _READERS.get(kind):
                reader(self, node, captures)

    def table(self, language: str) -> SymbolTable:
        """Return the table of what was read."""
        return SymbolTable(
            language,
            self._scopes,
            self._bindings,
            self._imports,
            self._results,
            self._calls,
            list(self._reads.values()),
            mentions=tuple(self._mentions()),
        )

    def _mentions(self) -> Iterator[str]:
        names = {last_name(call.function) for call in self._calls}
        for each in self._imports:
            names.update((each.name, each.alias, each.module.rpartition(".")[2]))
        names.update(last_name(base) for scope in self._scopes for base in scope.bases)
        names.update(name for read in self._reads.values() for name in _names(read.value))
        names.discard("")
        yield from sorted(names)

    # Scopes

    def _open(self, kind: str, node: Node, captures: Captures) -> None:
        parent = self._scope_at(node.start_byte)
        name = self._scope_name(parent, captures)
        outer = self._scopes[parent].path
        number = len(self._scopes)
        scope_kind = CLASS if kind == "class" else FUNCTION
        path = f"{outer}.{name}" if outer else name
        start, end = self._line(node.start_byte), self._line(max(node.end_byte - 1, 0))
        self._scopes.append(Scope(name, path, scope_kind, start, end, parent))
        self._ranges.append((node.start_byte, node.end_byte, number))
        self._by_node[node.start_byte] = number

    def _scope_name(self, parent: int, captures: Captures) -> str:
        if "name" in captures:
            return self._text(captures["name"][0])
        self._lambdas[parent] += 1
        return LAMBDA_NAME.format(self._lambdas[parent])

    def _complete(self, kind: str, node: Node, captures: Captures) -> None:
        """Read what a scope's head says, now that lambdas in it have their numbers."""
        number = self._by_node[node.start_byte]
        read = self._expressions.read
        bases = [
            read(each)
            for part in captures.get("bases", ())
            for each in part.named_children
            if each.type not in self._spec.keyword_arguments
        ]
        self._scopes[number] = self._scopes[number]._replace(
            bases=bases,
            parameters=[
                p for part in captures.get("parameters", ()) for p in self._parameters(part)
            ],
            returns=self._type(captures),
        )
        if kind == "lambda":
            self._results.append(Result(number, read(captures["value"][0])))

    def _parameters(self, node: Node) -> Iterator[Parameter]:
        read, spec = self._expressions.read, self._spec
        for each in node.named_children:
            if each.type in spec.splats:
                yield Parameter(self._text(each))
            elif fields := spec.parameters.get(each.type):
                name = each.child_by_field_name(fields[0]) if fields[0] else each.named_child(0)
                kind = each.child_by_field_name(fields[1]) if fields[1] else None
                default = each.child_by_field_name(fields[2]) if fields[2] else None
                if name is not None:
                    yield Parameter(self._text(name), self._annotation(kind), read(default))
            else:
                yield Parameter(self._text(each))

    def _type(self, captures: Captures) -> Expression:
        return self._annotation(captures["type"][0]) if "type" in captures else UNKNOWN

    def _annotation(self, node: Node | None) -> Expression:
        """Read a type; one that is written as a string is the name in it."""
        value = self._expressions.read(node)
        if node is not None and isinstance(value, list) and value[0] == LITERAL:
            name = self._text(node).strip("\"' ")
            return name if name.replace(".", "").isidentifier() else UNKNOWN
        return value

    def _scope_at(self, byte: int) -> int:
        """Return the innermost scope that encloses a byte; its own head's start is outside."""
        at = bisect_right(self._ranges, (byte, -1, -1)) - 1
        while at >= 0:
            start, end, number = self._ranges[at]
            if start < byte < end:
                return number
            at = self._parent_range(number, at)
        return FILE_SCOPE

    def _parent_range(self, number: int, at: int) -> int:
        """Return the range to try after one that ended: its parent's, else none."""
        parent = self._scopes[number].parent
        return parent - 1 if parent > FILE_SCOPE else -1

    def _line(self, byte: int) -> int:
        return bisect_right(self._starts, byte)

    def _lambda(self, node: Node) -> Expression:
        number = self._by_node.get(node.start_byte)
        return [LAMBDA, number] if number is not None else UNKNOWN

    # What is in scopes

    def _read_call(self, node: Node, captures: Captures) -> None:
        callee = captures["function"][0]
        self._used.add((callee.start_byte, callee.end_byte))
        function = self._expressions.read(callee)
        if function:
            given = captures.get("arguments")
            arguments = self._arguments(given[0]) if given else []
            byte = callee.end_byte - 1
            scope = self._scope_at(node.start_byte)
            self._calls.append(Call(scope, self._line(byte), function, arguments))

    def read_attributes(self, nodes: Sequence[Node]) -> None:
        """Read the attributes that are neither called nor assigned, the longest at each byte."""
        longest: dict[int, tuple[int, Node]] = {}
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            if start not in longest or longest[start][0] < end:
                longest[start] = (end, node)
        for start, (end, node) in longest.items():
            if (start, end) in self._used:
                continue
            value = self._expressions.read(node)
            if isinstance(value, str) and value:
                scope = self._scope_at(start)
                self._reads.setdefault((scope, value), Read(scope, self._line(end - 1), value))

    def _arguments(self, node: Node) -> list[Any]:
        if node.end_byte - node.start_byte <= len("()"):
            return []
        read = self._expressions.read
        arguments: list[Any] = []
        for each in node.named_children[:MAX_ARGUMENTS]:
            if fields := self._spec.keyword_arguments.get(each.type):
                name, value = (each.child_by_field_name(part) for part in fields)
                if name is not None:
                    arguments.append([BY_NAME, self._text(name), read(value)])
            else:
                literal = each.type in self._spec.shapes.literals
                arguments.append(UNKNOWN if literal else read(each))
        while arguments and not arguments[-1]:
            arguments.pop()
        return arguments

    def _read_assign(self, node: Node, captures: Captures) -> None:
        read = self._expressions.read
        written = captures["target"][0]
        self._used.add((written.start_byte, written.end_byte))
        scope, target = self._scope_at(node.start_byte), read(written)
        if "type" in captures:
            self._bind(scope, target, TYPED, self._type(captures))
        if "value" in captures:
            self._bind(scope, target, ASSIGNED, read(captures["value"][0]))

    def _read_loop(self, node: Node, captures: Captures) -> None:
        read = self._expressions.read
        value = read(captures["value"][0])
        scope, target = self._scope_at(node.start_byte), read(captures["target"][0])
        self._bind(scope, target, ITERATED, value)
        if value:
            self._dunder(scope, node, value, "__iter__")

    def _read_enter(self, node: Node, captures: Captures) -> None:
        read = self._expressions.read
        scope, value = self._scope_at(node.start_byte), read(captures["value"][0])
        if "target" in captures:
            self._bind(scope, read(captures["target"][0]), ENTERED, value)
        if value:
            for name in ("__enter__", "__exit__"):
                self._dunder(scope, node, value, name)

    def _dunder(self, scope: int, node: Node, value: Expression, name: str) -> None:
        function = f"{value}.{name}" if isinstance(value, str) else [ATTRIBUTE, value, name]
        self._calls.append(Call(scope, self._line(node.start_byte), function))

    def _bind(self, scope: int, target: Expression, how: str, value: Expression) -> None:
        """Bind a target; a sequence of targets takes the items of the value."""
        if not target:
            return
        if isinstance(target, list) and target[0] == SEQUENCE:
            for position, each in enumerate(target[1:]):
                self._bind(scope, each, how, _part(value, position))
            return
        if isinstance(target, list) and target[0] in (CALL, LAMBDA):
            return
        self._bindings.append(Binding(scope, target, how, value))

    def _read_return(self, node: Node, captures: Captures) -> None:
        value = self._expressions.read(captures["value"][0])
        if value:
            self._results.append(Result(self._scope_at(node.start_byte), value))

    def _read_decorator(self, node: Node, captures: Captures) -> None:
        definition = node.parent and node.parent.child_by_field_name("definition")
        if definition is None:
            return
        number = self._by_node.get(definition.start_byte)
        value = self._expressions.read(captures["value"][0])
        if number is None or not value:
            return
        scope = self._scopes[number]
        self._scopes[number] = scope._replace(decorators=[*scope.decorators, value])
        if not isinstance(value, list) or value[0] != CALL:
            line = self._line(node.start_byte)
            self._calls.append(Call(scope.parent, line, value, [[LAMBDA, number]]))

    def _read_import(self, node: Node, captures: Captures) -> None:
        scope, line = self._scope_at(node.start_byte), self._line(node.start_byte)
        for each in self._spec.imports(self._text(node)):
            self._imports.append(Import(scope, each.alias, each.module, each.name, line))


def _names(expression: Expression) -> Sequence[str]:
    """Return the names after the first of a dotted one."""
    return expression.split(".")[1:] if isinstance(expression, str) else ()


def _part(value: Expression, position: int) -> Expression:
    if isinstance(value, list) and value[0] == SEQUENCE and position + 1 < len(value):
        part: Expression = value[position + 1]
        return part
    return [ITEM, value, str(position)] if value else UNKNOWN


def _event_name(captures: Captures) -> str:
    return next(name for name in captures if name.startswith(EVENT))


_SCOPE_KINDS = frozenset(["function", "class", "lambda"])
_READERS = {
    "call": _Extraction._read_call,
    "assign": _Extraction._read_assign,
    "loop": _Extraction._read_loop,
    "enter": _Extraction._read_enter,
    "return": _Extraction._read_return,
    "decorator": _Extraction._read_decorator,
    "import": _Extraction._read_import,
}
