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
from ctx_indexer.syntax.symbols.bindings import Hiding, declared, parts
from ctx_indexer.syntax.symbols.blocks import with_needed_blocks
from ctx_indexer.syntax.symbols.mentions import mentions_of
from ctx_indexer.syntax.symbols.nodes import Captures, declared_name, nodes_of, read_query
from ctx_indexer.syntax.symbols.scopes import KINDS, PARTS, Scopes
from ctx_indexer.syntax.symbols.spec import SymbolSpec
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    CALL,
    CLASS,
    DECLARED,
    EITHER,
    ENTERED,
    HELD,
    ITERATED,
    LAMBDA,
    SEQUENCE,
    TYPED,
    UNKNOWN,
    Binding,
    Expression,
    Import,
    Result,
    SymbolTable,
    plain,
)
from ctx_indexer.syntax.symbols.uses import Uses

EVENT = "on."
MAX_IMPORT = 10_000  # bytes that are read of an import statement


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
    extraction.read_uses(called, read, bare)
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
        self._package = ""
        self._uses = Uses(spec, self._scopes)
        self._settings: Mapping[str, Any] = {}
        self._hiding = Hiding()

    def read(
        self, matches: Sequence[tuple[int, Captures]], settings: Sequence[Mapping[str, Any]]
    ) -> None:
        """Read all matches of the query: scopes first, then their bindings, imports and results."""
        names: dict[int, str] = {}  # the event of each pattern
        events = [
            (name[len(EVENT) :], captures[name][0], captures, pattern)
            for pattern, captures in matches
            if (name := names.get(pattern) or names.setdefault(pattern, _event_name(captures)))
        ]
        events = with_needed_blocks(events, settings, self._spec)
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

    def read_uses(
        self, calls: Sequence[Node], attributes: Sequence[Node], bare: Sequence[Node]
    ) -> None:
        """Read calls and attributes, when all bindings have been read."""
        if self._spec.variables:
            self._bindings = self._hiding.placed(self._bindings, self._scopes.all)
        self._uses.read_calls(calls, self._hiding)
        self._uses.read_attributes(attributes)
        self._uses.read_bare_calls(bare, self._bindings)

    def table(self, language: str) -> SymbolTable:
        """Return the table of all rows that were read."""
        table = SymbolTable(
            language,
            self._scopes.all,
            [*self._bindings, *self._scopes.fields],
            self._imports,
            self._results,
            self._uses.calls,
            self._uses.reads,
            package=self._package,
        )
        return replace(table, mentions=tuple(sorted(mentions_of(table, self._spec))))

    def _read_call(self, node: Node, captures: Captures) -> None:
        self._uses.capture(node, captures, self._settings)

    def _read_assign(self, node: Node, captures: Captures) -> None:
        if self._spec.variables:
            self._read_variable(captures)
            return
        read = self._expressions.read
        value = read(captures["value"][0]) if "value" in captures else UNKNOWN
        kind = self._scopes.heads.type(captures)
        empty = self._spec.empty
        is_given = "value" in captures and captures["value"][0].type not in empty
        for written in captures.get("target", () if "self" in captures else (None,)):
            if written is None:
                target: Expression = str(self._settings["target"])
                is_function = False
                scope = self._scopes.at(node.start_byte)
            else:
                self._uses.assign(written)
                name, is_function = declared_name(written)
                scope = self._scopes.at(written.start_byte)
                target = read(name) or (
                    "" if name.named_children else self._expressions.dotted(name)
                )
            declared = UNKNOWN if is_function else self._scopes.heads.pointed(kind, written)
            if declared and value and not self._spec.reads:
                self._bind(scope, target, ASSIGNED, [DECLARED, declared, value])
            else:
                if declared:
                    how = HELD if self._scopes.heads.holds(captures, written) else TYPED
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
        """Bind a parameter that stands for any type to nothing known: `T` of `class Box<T>`."""
        scope = self._scopes.at(node.start_byte)
        self._bindings.append(Binding(scope, self._text(captures["name"][0]), ASSIGNED, UNKNOWN))

    def _read_variable(self, captures: Captures) -> None:
        """Read a declaration of variables, or an assignment to them."""
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
        if value and self._spec.loop_runs:
            self._uses.run(scope, node, value, self._spec.loop_runs)

    def _read_enter(self, node: Node, captures: Captures) -> None:
        read = self._expressions.read
        scope, value = self._scopes.at(node.start_byte), read(captures["value"][0])
        if "target" in captures:
            self._bind(scope, read(captures["target"][0]), ENTERED, value)
        if value:
            for name in self._spec.enter_runs:
                self._uses.run(scope, node, value, name)

    def _read_catch(self, node: Node, captures: Captures) -> None:
        """Read the name of an exception that is caught: an instance of one of some types."""
        types = self._expressions.read(captures["type"][0])
        if isinstance(types, list) and types[0] == SEQUENCE:
            types = [EITHER, *types[1:]]
        scope = self._scopes.at(node.start_byte)
        self._bind(scope, self._expressions.read(captures["target"][0]), TYPED, types)

    def _bind(self, scope: int, target: Expression, how: str, value: Expression) -> None:
        """Bind a target, or each target of a pattern: `a, b = pair` binds `a` and `b`."""
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
        """Read the last expression of a body as its result: `fn f() { g() }` → `g()`."""
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
            self._uses.add(scope.parent, node.start_byte, value, [[LAMBDA, number]])

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
