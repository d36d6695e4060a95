"""Resolves expressions to definitions: by scope, import, receiver and type.

Nothing is resolved before it is asked. Tables that are not loaded yet are noted by `Tables` and
taken for unknown; the caller loads them and asks again.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from services.indexer.graph.calls import Calls
from services.indexer.graph.classes import Classes
from services.indexer.graph.containers import Containers
from services.indexer.graph.files import FileSymbols
from services.indexer.graph.modules import python_files
from services.indexer.graph.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    FILE,
    INSTANCE,
    LITERAL_VALUE,
    NOTHING,
    PARENT,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from services.indexer.syntax.symbols.table import (
    ATTRIBUTE,
    CALL,
    CLASS,
    EITHER,
    ENTERED,
    FILE_SCOPE,
    ITEM,
    ITERATED,
    LAMBDA,
    LITERAL,
    MAPPING,
    SEQUENCE,
    TYPED,
    WHOLE_MODULE,
    Binding,
    Expression,
    Import,
    Scope,
)

MAX_DEPTH = 20  # of expressions that are resolved for one another
MAX_STEPS = 1_000  # of one question


class Tables(Protocol):
    """The files that a resolver may read."""

    def file(self, path: str) -> FileSymbols | None: ...

    def callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the files that may call something of this name."""
        ...


class Resolver:
    """Answers what expressions stand for. One is made for each question."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.classes = Classes(self)
        self.calls = Calls(self)
        self.containers = Containers(self)
        self._memo: dict[tuple[ScopeRef, str], Values] = {}
        self._active: set[object] = set()
        self._depth = 0
        self._steps = 0
        self.callers_deep = 0
        self._cuts = 0  # how often resolving was cut short

    def start(self) -> None:
        """Begin a question: its steps are counted from here; what was resolved is kept."""
        self._steps = 0

    @property
    def exhausted(self) -> bool:
        """Whether a question has taken all the steps that it may."""
        return self._steps > MAX_STEPS

    # Expressions

    def evaluate(self, place: ScopeRef, expression: Expression) -> Values:
        """Return what an expression may stand for at a place."""
        if not expression:
            return UNRESOLVED_VALUES
        key = (place, expression if isinstance(expression, str) else json.dumps(expression))
        if key in self._memo:
            return self._memo[key]
        with self.entered(key) as entered:
            if not entered:
                return NOTHING
            cuts = self._cuts
            result = self._evaluate(place, expression)
        if self._cuts == cuts:  # else it depends on what was being resolved around it
            self._memo[key] = result
        return result

    @contextmanager
    def entered(self, key: object) -> Iterator[bool]:
        """Enter a step of resolving; False where it goes in circles or beyond its bounds."""
        self._steps += 1
        if key in self._active or self._depth >= MAX_DEPTH or self._steps > MAX_STEPS:
            self._cuts += 1
            yield False
            return
        self._active.add(key)
        self._depth += 1
        try:
            yield True
        finally:
            self._active.discard(key)
            self._depth -= 1

    def _evaluate(self, place: ScopeRef, expression: Expression) -> Values:
        if isinstance(expression, str):
            first, *rest = expression.split(".")
            values = self.name(place, first)
            for name in rest:
                values = self.attribute(values, name)
            return values
        operator = expression[0]
        if operator == CALL:
            return self._call(place, expression[1])
        if operator == ATTRIBUTE:
            return self.attribute(self.evaluate(place, expression[1]), expression[2])
        if operator == ITEM:
            return self.containers.item(place, expression[1], expression[2])
        if operator == EITHER:
            return union(self.evaluate(place, each) for each in expression[1:])
        if operator == LAMBDA:
            return self._defined(place.path, expression[1])
        if operator == LITERAL:
            return external(f"{BUILTINS}.{expression[1]}")
        if operator in (SEQUENCE, MAPPING):
            return frozenset([Value(LITERAL_VALUE, *place, expression=json.dumps(expression))])
        return UNRESOLVED_VALUES

    def _call(self, place: ScopeRef, function: Expression) -> Values:
        if function == "super":
            file = self.tables.file(place.path)
            receiver = file.receiver(place.scope) if file else None
            if receiver is not None:
                return frozenset([Value(PARENT, place.path, receiver[0])])
        return self.calls.called(self.evaluate(place, function))

    # Names

    def name(self, place: ScopeRef, name: str) -> Values:
        """Look a name up in a scope and those around it."""
        file = self.tables.file(place.path)
        if file is None:
            return UNRESOLVED_VALUES
        number, inner = place.scope, True
        while number >= 0:
            scope = file.scope(number)
            if inner or scope.kind != CLASS:
                values = self._bound(file, number, scope, name)
                if values is not None:
                    return values
            inner = False
            number = scope.parent
        for each in file.star_imports:
            values = self._exported(file.path, each.module, name)
            if values is not None:
                return values
        return external(f"{BUILTINS}.{name}")

    def _bound(self, file: FileSymbols, number: int, scope: Scope, name: str) -> Values | None:
        """Return what a scope itself binds a name to; None where it does not."""
        found: list[Values] = []
        for binding in file.bindings.get((number, name), ()):
            found.append(self.binding(file.path, binding))
        for each in file.imports.get((number, name), ()):
            found.append(self.imported(file.path, each))
        for position, parameter in enumerate(scope.parameters):
            if parameter.name.lstrip("*") == name:
                found.append(self.calls.parameter(file, number, position))
        return union(found) if found else None

    def binding(self, path: str, binding: Binding) -> Values:
        place = ScopeRef(path, binding.scope)
        if binding.how == TYPED:
            return self.instances(self.evaluate(place, binding.value))
        values = self.evaluate(place, binding.value)
        if binding.how == ITERATED:
            return self.containers.elements(values)
        if binding.how == ENTERED:
            entered = self.calls.called(self.attribute(values, "__enter__"))
            return entered if any(v.kind != EXTERNAL for v in entered) else values
        return values

    def _defined(self, path: str, number: int) -> Values:
        """Return a definition, as what its decorators make of it."""
        file = self.tables.file(path)
        values: Values = frozenset([Value(DEFINITION, path, number)])
        if file is None:
            return values
        scope = file.scope(number)
        place = ScopeRef(path, scope.parent)
        for decorator in reversed(scope.decorators):
            made = self.calls.called(self.evaluate(place, decorator))
            known = frozenset(v for v in made if v.kind == DEFINITION)
            if known:
                values = known
        return values

    def instances(self, classes: Values) -> Values:
        """Return instances of classes."""
        return frozenset(
            value._replace(kind=INSTANCE) if value.kind == DEFINITION else value
            for value in classes
        )

    # Imports

    def exported(self, importer: str, each: Import, name: str) -> Values:
        """Return what the module of an import binds a name to."""
        return self._exported(importer, each.module, name) or NOTHING

    def imported(self, importer: str, each: Import) -> Values:
        """Return what an import binds its name to."""
        if each.name == WHOLE_MODULE:
            file = self._module(importer, each.module)
            return _file_value(file) if file else external(each.module)
        values = self._exported(importer, each.module, each.name)
        if values is not None:
            return values
        file = self._module(importer, _joined(each.module, each.name))
        if file is not None:
            return _file_value(file)
        known = self._module(importer, each.module) is not None
        return UNRESOLVED_VALUES if known else external(_joined(each.module, each.name))

    def _module(self, importer: str, module: str) -> FileSymbols | None:
        for path in python_files(importer, module):
            if file := self.tables.file(path):
                return file
        return None

    def _exported(self, importer: str, module: str, name: str) -> Values | None:
        file = self._module(importer, module)
        return self._member(file, name) if file else None

    def _member(self, file: FileSymbols, name: str) -> Values | None:
        """Return what a file binds a name to; None where it does not."""
        with self.entered(("member", file.path, name)) as entered:
            if not entered:
                return NOTHING
            values = self._bound(file, FILE_SCOPE, file.scope(FILE_SCOPE), name)
            if values is not None:
                return values
            for each in file.star_imports:
                values = self._exported(file.path, each.module, name)
                if values is not None:
                    return values
            if file.path.endswith("/__init__.py"):
                inner = self._module(file.path, f".{name}")
                if inner is not None:
                    return _file_value(inner)
        return None

    # Attributes

    def attribute(self, values: Values, name: str) -> Values:
        """Return an attribute of values."""
        return union(self._attribute(value, name) for value in values)

    def _attribute(self, value: Value, name: str) -> Values:
        if value.kind == EXTERNAL:
            return external(f"{value.name}.{name}")
        if value.kind == FILE:
            file = self.tables.file(value.path)
            found = self._member(file, name) if file else None
            return UNRESOLVED_VALUES if found is None else found
        if value.kind in (DEFINITION, INSTANCE, PARENT):
            return self.classes.inherited(value, name)
        return external(f"{BUILTINS}.{name}") if value.kind == LITERAL_VALUE else UNRESOLVED_VALUES


def _file_value(file: FileSymbols) -> Values:
    return frozenset([Value(FILE, file.path)])


def _joined(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
