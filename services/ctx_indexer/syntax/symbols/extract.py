"""Builds the symbol table of a file from its syntax tree, by a query per language.

A pattern of `queries/symbols/<language>.scm` in the folder of its family captures its whole node as
`@on.<event>` and the parts of it by plain names; `(#set! target "x")` names a target that is not
written. Calls are found by the node types of the language's shapes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tree_sitter import Node, Tree

from ctx_indexer.languages.registry import LANGUAGES, symbol_query
from ctx_indexer.syntax.grammar import Grammar, queried
from ctx_indexer.syntax.symbols.blocks import with_needed_blocks
from ctx_indexer.syntax.symbols.expressions import MAX_ARGUMENTS, attribute, plain
from ctx_indexer.syntax.symbols.mentions import mentions_of
from ctx_indexer.syntax.symbols.patterns import parts
from ctx_indexer.syntax.symbols.queries import nodes_of, read_query
from ctx_indexer.syntax.symbols.reads import Reads
from ctx_indexer.syntax.symbols.scopes import KINDS, PARTS, Captures, Scopes, declared_name
from ctx_indexer.syntax.symbols.spec import SymbolSpec
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    BY_NAME,
    CALL,
    CLASS,
    DECLARED,
    EITHER,
    ENTERED,
    HELD,
    ITERATED,
    LAMBDA,
    NEW,
    SEQUENCE,
    TYPED,
    UNKNOWN,
    Binding,
    Call,
    Expression,
    Import,
    Result,
    SymbolTable,
)
from ctx_indexer.syntax.symbols.variables import Hiding, declared

EVENT = "on."
MAX_IMPORT = 10_000  # bytes of an import statement


def extract_symbols(
    tree: Tree, source: bytes, grammar: Grammar, language: str, line_starts: Sequence[int]
) -> SymbolTable | None:
    """Build the table; None for a language without a query of symbols. Blocks."""
    spec = known.symbols if (known := LANGUAGES.get(language)) else None
    if spec is None:
        return None
    extraction = _Extraction(source, spec, line_starts)
    query, settings = read_query(grammar, symbol_query(language, spec.query))
    extraction.read(queried(query, lambda cursor: cursor.matches(tree.root_node)), settings)
    shapes = spec.shapes
    calls = (*shapes.calls, *shapes.methods, *shapes.constructs)
    attributes = tuple(shapes.attributes) if spec.reads else ()
    called, read, bare = nodes_of(tree, grammar, calls, attributes, tuple(spec.bare_calls))
    extraction.read_calls(called)
    extraction.reads.read(read)
    extraction.read_bare_calls(bare)
    return extraction.table(language)


class _Extraction:
    """Collects the parts of one table."""

    def __init__(self, source: bytes, spec: SymbolSpec, line_starts: Sequence[int]) -> None:
        self._spec = spec
        self._scopes = Scopes(source, spec, line_starts)
        self._expressions = self._scopes.expressions
        self._text = self._expressions.text
        self._bindings: list[Binding] = []
        self._imports: list[Import] = []
        self._results: list[Result] = []
        self._calls: list[Call] = []
        self._package = ""
        self.reads = Reads(spec, self._scopes)
        self._settings: Mapping[str, Any] = {}
        self._hiding = Hiding()

    def read(
        self, matches: Sequence[tuple[int, Captures]], settings: Sequence[Mapping[str, Any]]
    ) -> None:
        """Read all matches of the query: scopes first, then what is in them."""
        names: dict[int, str] = {}  # of events, by pattern
        events = [
            (name[len(EVENT) :], captures[name][0], captures, pattern)
            for pattern, captures in matches
            if (name := names.get(pattern) or names.setdefault(pattern, _event_name(captures)))
        ]
        events = with_needed_blocks(events, settings)
        self._scopes.open([event[:3] for event in events if event[0] in KINDS or event[0] in PARTS])
        for each in self._scopes.unpacked:
            self._bind(*each)
        for kind, node, captures, pattern in events:
            self._settings = settings[pattern]
            if reader := _READERS.get(kind):
                reader(self, node, captures)
            elif kind in KINDS and "value" in captures:
                number = self._scopes.of(node)
                value = self._expressions.read(captures["value"][0])
                if number is not None and value:
                    self._results.append(Result(number, value))

    def table(self, language: str) -> SymbolTable:
        """Return the table of what was read."""
        table = SymbolTable(
            language,
            self._scopes.all,
            [*self._bindings, *self._scopes.fields],
            self._imports,
            self._results,
            self._calls,
            self.reads.all,
            package=self._package,
        )
        return replace(table, mentions=tuple(sorted(mentions_of(table, self._spec))))

    def read_calls(self, nodes: Sequence[Node]) -> None:
        """Read calls, by the shapes of the language; all bindings have been read."""
        if self._spec.variables:
            self._bindings = self._hiding.placed(self._bindings, self._scopes.all)
        for node in nodes:
            function, arguments, byte = self._expressions.callee(node)
            self.reads.called.add((node.start_byte, byte + 1))
            if function and not self._expressions.is_cast(node):
                given = self._arguments(arguments) if arguments is not None else []
                scope = self._scopes.at(node.start_byte)
                constructs = self._spec.marks_new and node.type in self._spec.shapes.constructs
                called = self._hiding.outside(node, scope, function)
                if constructs:
                    called = [NEW, function]
                self._calls.append(Call(scope, self._scopes.line(byte), called, given))
                if isinstance(function, str) and function in self._spec.runs and given and given[0]:
                    self._dunder(scope, node, given[0], self._spec.runs[function])

    def _read_call(self, node: Node, captures: Captures) -> None:
        """Read a call that only the query knows; one that constructs has `new` set."""
        callee = captures["function"][0]
        self.reads.called.add((callee.start_byte, callee.end_byte))
        function = plain(self._expressions.read(callee))
        if function:
            given = captures.get("arguments")
            arguments = self._arguments(given[0]) if given else []
            line = self._scopes.line(callee.end_byte - 1)
            scope = self._scopes.at(node.start_byte)
            called: Expression = [NEW, function] if "new" in self._settings else function
            self._calls.append(Call(scope, line, called, arguments))

    def read_bare_calls(self, nodes: Sequence[Node]) -> None:
        """Read names that call where nothing binds them."""
        if not nodes:
            return
        bound = {
            (each.scope, each.target) for each in self._bindings if isinstance(each.target, str)
        }
        for number, head in enumerate(self._scopes.all):
            bound.update((number, each.name.lstrip("*&")) for each in head.parameters)
        for node in nodes:
            parent = node.parent
            if parent is None or parent.type not in self._spec.bare_calls[node.type]:
                continue
            if any(parent.child_by_field_name(each) == node for each in ("left", "method")):
                continue
            name, scope = self._text(node), self._scopes.at(node.start_byte)
            around: int = scope
            while around > 0 and (around, name) not in bound:
                around = self._scopes.all[around].parent
            if (around, name) not in bound and name.isidentifier():
                line = self._scopes.line(node.start_byte)
                self._calls.append(Call(scope, line, name))

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
            if fields := spec.keyword_arguments.get(each.type):
                name, value = (each.child_by_field_name(part) for part in fields)
                if name is not None:
                    arguments.append([BY_NAME, self._text(name), read(value)])
            elif spec.overloads:
                arguments.append(read(each))
            else:
                arguments.append(UNKNOWN if each.type in spec.shapes.literals else read(each))
        while arguments and not arguments[-1] and not spec.overloads:
            arguments.pop()
        return arguments

    def _read_assign(self, node: Node, captures: Captures) -> None:
        if self._spec.variables:
            self._read_variable(captures)
            return
        read = self._expressions.read
        value = read(captures["value"][0]) if "value" in captures else UNKNOWN
        kind = self._scopes.type(captures)
        empty = self._spec.empty
        is_given = "value" in captures and captures["value"][0].type not in empty
        for written in captures.get("target", () if "self" in captures else (None,)):
            if written is None:
                target: Expression = str(self._settings["target"])
                is_function = False
                scope = self._scopes.at(node.start_byte)
            else:
                self.reads.assigned.add((written.start_byte, written.end_byte))
                name, is_function = declared_name(written)
                scope = self._scopes.at(written.start_byte)
                target = read(name) or (
                    "" if name.named_children else self._expressions.dotted(name)
                )
            declared = UNKNOWN if is_function else self._scopes.pointed(kind, written)
            if declared and value and not self._spec.reads:
                self._bind(scope, target, ASSIGNED, [DECLARED, declared, value])
            else:
                if declared:
                    how = HELD if self._scopes.holds(captures, written) else TYPED
                    self._bind(scope, target, how, declared)
                is_bound = is_given and (empty or isinstance(target, str))
                if value or (is_bound and not declared):
                    self._bind(scope, target, ASSIGNED, value)
                elif self._spec.empty and not declared:
                    self._bind(scope, target, TYPED, UNKNOWN)
        if "self" in captures:
            scope = self._scopes.at(node.start_byte)
            self._bind(scope, self._text(captures["self"][0]), TYPED, self._scopes.all[scope].name)

    def _read_type_variable(self, node: Node, captures: Captures) -> None:
        """Read a parameter that stands for any type."""
        scope = self._scopes.at(node.start_byte)
        self._bindings.append(Binding(scope, self._text(captures["name"][0]), ASSIGNED, UNKNOWN))

    def _read_variable(self, captures: Captures) -> None:
        """Read what declares variables, or changes them."""
        before = len(self._bindings)
        for each in declared(captures, self._settings, self._scopes):
            self._bind(*each)
        added = self._bindings[before:]
        self._bindings[before:] = self._hiding.noted(captures, self._settings, added)

    def _read_loop(self, node: Node, captures: Captures) -> None:
        read = self._expressions.read
        value = read(captures["value"][0])
        scope, target = self._scopes.at(node.start_byte), read(captures["target"][0])
        if self._spec.loops_last:
            *keys, target = target[1:] if isinstance(target, list) else [target, UNKNOWN]
            self._bindings += [Binding(scope, key, ASSIGNED, UNKNOWN) for key in keys]
        self._bind(scope, target, ITERATED, value)
        if value and self._spec.reads:
            self._dunder(scope, node, value, "__iter__")

    def _read_enter(self, node: Node, captures: Captures) -> None:
        read = self._expressions.read
        scope, value = self._scopes.at(node.start_byte), read(captures["value"][0])
        if "target" in captures:
            self._bind(scope, read(captures["target"][0]), ENTERED, value)
        if value:
            for name in ("__enter__", "__exit__"):
                self._dunder(scope, node, value, name)

    def _read_catch(self, node: Node, captures: Captures) -> None:
        """Read the name of an exception that is caught: an instance of one of some types."""
        types = self._expressions.read(captures["type"][0])
        if isinstance(types, list) and types[0] == SEQUENCE:
            types = [EITHER, *types[1:]]
        scope = self._scopes.at(node.start_byte)
        self._bind(scope, self._expressions.read(captures["target"][0]), TYPED, types)

    def _dunder(self, scope: int, node: Node, value: Expression, name: str) -> None:
        line = self._scopes.line(node.start_byte)
        self._calls.append(Call(scope, line, attribute(value, name)))

    def _bind(self, scope: int, target: Expression, how: str, value: Expression) -> None:
        """Bind a target, or those of a pattern."""
        sigil = self._spec.sigil if self._scopes.all[scope].kind == CLASS else ""
        for each, means, part in parts(self._spec, target, how, value):
            name = each.lstrip(sigil) if sigil and isinstance(each, str) else each
            self._bindings.append(Binding(scope, name, means, part))

    def _read_return(self, node: Node, captures: Captures) -> None:
        written = captures["value"][0] if "value" in captures else node
        value = self._expressions.read(written)
        if value:
            self._results.append(Result(self._scopes.function_at(written.start_byte), value))

    def _read_result(self, node: Node, captures: Captures) -> None:
        """Read the last expression of a body, which is its value."""
        inner = [child for child in node.named_children if "comment" not in child.type]
        if inner and (value := self._expressions.read(inner[-1])):
            self._results.append(Result(self._scopes.at(inner[-1].start_byte), value))

    def _read_base(self, node: Node, captures: Captures) -> None:
        for each in captures["base"]:
            if base := plain(self._expressions.read(each)):
                self._scopes.add_base(self._scopes.at(node.start_byte), base)

    def _read_package(self, node: Node, captures: Captures) -> None:
        self._package = self._expressions.dotted(captures["name"][0])

    def _read_decorator(self, node: Node, captures: Captures) -> None:
        definition = node.parent and node.parent.child_by_field_name("definition")
        if definition is None:
            return
        number = self._scopes.of(definition)
        value = self._expressions.read(captures["value"][0])
        if number is None or not value:
            return
        scopes = self._scopes.all
        scope = scopes[number]
        scopes[number] = scope._replace(decorators=[*scope.decorators, value])
        if not isinstance(value, list) or value[0] != CALL:
            line = self._scopes.line(node.start_byte)
            self._calls.append(Call(scope.parent, line, value, [[LAMBDA, number]]))

    def _read_import(self, node: Node, captures: Captures) -> None:
        scope, line = self._scopes.at(node.start_byte), self._scopes.line(node.start_byte)
        for each in self._spec.imports(self._expressions.text(node, MAX_IMPORT)):
            self._imports.append(Import(scope, each.alias, each.module, each.name, line))


def _event_name(captures: Captures) -> str:
    return next(name for name in captures if name.startswith(EVENT))


_READERS = {
    "call": _Extraction._read_call,
    "assign": _Extraction._read_assign,
    "variable": _Extraction._read_type_variable,
    "loop": _Extraction._read_loop,
    "enter": _Extraction._read_enter,
    "catch": _Extraction._read_catch,
    "return": _Extraction._read_return,
    "result": _Extraction._read_result,
    "base": _Extraction._read_base,
    "package": _Extraction._read_package,
    "decorator": _Extraction._read_decorator,
    "import": _Extraction._read_import,
}
