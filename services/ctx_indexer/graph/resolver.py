"""Resolves expressions to definitions: by scope, import, receiver and type.

Nothing is resolved before a question needs it. Names of tables that are not loaded yet are unknown;
`Tables` notes them, the caller loads them and asks again.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

from ctx_indexer.graph.accessors import Accessors
from ctx_indexer.graph.calls import Calls
from ctx_indexer.graph.classes import Classes
from ctx_indexer.graph.containers import Containers
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Tables
from ctx_indexer.languages.semantics.outside import is_open
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    CHANGED_VALUE,
    DEFINITION,
    EXTERNAL,
    FILE,
    INSTANCE,
    LITERAL_VALUE,
    NOTHING,
    OPEN,
    PACKAGE,
    PARENT,
    TYPE,
    UNRESOLVED,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    member_of_unknown,
    union,
)
from ctx_indexer.syntax.symbols.table import (
    ATTRIBUTE,
    CALL,
    CHANGED,
    CLASS,
    DECLARED,
    EITHER,
    ENTERED,
    EXTENSION,
    FUNCTION,
    HELD,
    ITEM,
    ITERATED,
    LAMBDA,
    LITERAL,
    NEW,
    OPERATION,
    OUTER,
    TYPED,
    Binding,
    Expression,
    Import,
    Scope,
)

T = TypeVar("T")

MAX_DEPTH = 20  # expressions that are resolved inside one another
MAX_STEPS = 1_000  # steps that one question may take


class Resolver:
    """Answers which values expressions have, for all questions to one graph.

    Results are kept; a result that lacked a table is kept until the next round.
    """

    def __init__(self, tables: Tables, *, decorates: bool = True) -> None:
        """Without `decorates`, a name stands for its function as written, without decorators."""
        self.tables = tables
        self.file = tables.file
        self.few_callers = tables.few_callers
        self.definers = tables.definers
        self._decorates = decorates
        self.classes = Classes(self)
        self.containers = Containers(self)
        self.calls = Calls(self, self.containers)
        self.called = self.calls.called
        self.targets = self.calls.targets
        self.run = self.calls.run
        self.fitting = self.calls.fitting
        self.below = self.calls.below
        self.parameter = self.calls.parameter
        self.passed = self.calls.passed
        self.typed = self.calls.typed
        self.elements = self.containers.elements
        self.accessors = Accessors(self)
        self._memo: dict[object, Any] = {}
        self._of_round: dict[object, Any] = {}
        self._active: set[object] = set()
        self._depth = self._steps = 0
        self._cuts = 0  # the number of steps that were refused: circles, or beyond the bounds

    def start(self) -> None:
        """Begin a question: its steps are counted from here, and known results are kept."""
        self._steps = 0

    def begin_round(self) -> None:
        """Forget the results that lacked tables, which may be loaded by now."""
        self._of_round = {}
        self.classes.begin_round()
        vars(self).pop("undecorated", None)

    @cached_property
    def undecorated(self) -> "Resolver":
        """A resolver of the same tables that leaves decorators out: `@cache def f()` → `f`."""
        return Resolver(self.tables, decorates=False)

    def remember(self, key: object, compute: Callable[[], T]) -> T:
        """Return the result kept under a key, or compute it."""
        for known in (self._memo, self._of_round):
            if key in known:
                result: T = known[key]
                return result
        cuts, misses = self._cuts, self.tables.misses
        computed = compute()
        if self._cuts == cuts:  # else the result depends on the steps around it
            (self._memo if self.tables.misses == misses else self._of_round)[key] = computed
        return computed

    def scope_of(self, value: Value) -> Scope | None:
        """Return the scope of a definition; None for any other value, or one that is not loaded."""
        file = self.file(value.path) if value.kind == DEFINITION else None
        return file.scope(value.scope) if file else None

    def function_of(self, value: Value) -> Scope | None:
        """Return the scope of a function; None for anything else."""
        scope = self.scope_of(value)
        return scope if scope is not None and scope.kind == FUNCTION else None

    @property
    def exhausted(self) -> bool:
        """Whether a question has taken all the steps that it may."""
        return self._steps > MAX_STEPS

    # Expressions

    def evaluate(self, place: ScopeRef, expression: Expression) -> Values:
        """Return the values that an expression may have at a place: `cart.add` → `Cart.add`."""
        if not expression:
            return UNRESOLVED_VALUES
        key = (place, expression if isinstance(expression, str) else json.dumps(expression))
        return self.remember(key, lambda: self._evaluate_once(key, place, expression))

    def _evaluate_once(self, key: object, place: ScopeRef, expression: Expression) -> Values:
        with self.entered(key) as entered:
            return self._evaluate(place, expression) if entered else NOTHING

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
            return self._dotted(place, expression)
        evaluate = self._operators.get(expression[0], self.containers.written)
        return evaluate(place, expression)

    @cached_property
    def _operators(self) -> Mapping[str, Callable[[ScopeRef, list[Any]], Values]]:
        """The functions that evaluate expressions, by their operator."""
        evaluate, containers = self.evaluate, self.containers
        return {
            CALL: lambda at, e: self._call(at, e[1], e[2:]),
            ATTRIBUTE: lambda at, e: self.attribute(evaluate(at, e[1]), e[2]),
            ITEM: lambda at, e: containers.item(at, e[1], e[2]),
            ITERATED: lambda at, e: containers.looped(at, e[1]),
            EITHER: lambda at, e: union(evaluate(at, each) for each in e[1:]),
            LAMBDA: lambda at, e: self._defined(at.path, e[1]),
            LITERAL: lambda at, e: external(f"{BUILTINS}.{e[1]}"),
            NEW: lambda at, e: self._classes(evaluate(at, e[1])),
            DECLARED: lambda at, e: containers.declared(at, e[1], e[2]),
            OPERATION: self._operated,
            CHANGED: lambda at, e: self._changed(evaluate(at, e[1])),
            OUTER: lambda at, e: evaluate(self._around(at), e[1]),
        }

    def _operated(self, place: ScopeRef, expression: Sequence[Any]) -> Values:
        results = semantics_of(self.file(place.path)).results
        return results.operated(self, place, expression)

    def _dotted(self, place: ScopeRef, expression: str) -> Values:
        values = self.name(place, expression.partition(".")[0])
        file = self.file(place.path)
        if file is None or "." not in expression:
            return values
        return semantics_of(file).members.dotted(self, file, place, values, expression)

    def _changed(self, values: Values) -> Values:
        """Return the functions that an assignment gives a variable; any unknown value as changed.

        The declaration of the variable says its type: `run = other` adds `other`.
        """
        unknown = any(value.kind == UNRESOLVED for value in values)
        held = frozenset(value for value in values if self.function_of(value))
        return held | {CHANGED_VALUE} if unknown else held

    def _around(self, place: ScopeRef) -> ScopeRef:
        file = self.file(place.path)
        parent = file.scope(place.scope).parent if file else 0
        return place._replace(scope=max(parent, 0))

    def _classes(self, values: Values) -> Values:
        """Return classes, and the classes of instances: `Cart c(1);` of C++ constructs a `Cart`."""
        return frozenset(
            value._replace(kind=DEFINITION, name="") if value.kind == INSTANCE else value
            for value in values
            if not self._is_pointer(value)
        )

    def _is_pointer(self, value: Value) -> bool:
        if value.kind != INSTANCE:
            return False
        return semantics_of(self.file(value.path)).results.is_pointer(value)

    def _call(
        self, place: ScopeRef, function: Expression, arguments: Sequence[Expression]
    ) -> Values:
        if isinstance(function, list) and function[0] == NEW:
            return self.instances(self.evaluate(place, function))
        results = semantics_of(self.file(place.path)).results
        return results.given(self, place, function, arguments)

    # Names

    def name(self, place: ScopeRef, name: str) -> Values:
        """Look a name up in a scope and the scopes around it, then by the rules of the language."""
        file = self.file(place.path)
        if file is None:
            return UNRESOLVED_VALUES
        semantics = semantics_of(file)
        names = semantics.names
        if (values := names.word(self, file, place, name)) is not None:
            return values
        number, inner, is_open = place.scope, True, False
        while number >= 0:
            scope = file.scope(number)
            is_seen = inner or scope.kind not in (CLASS, EXTENSION)
            values = self.bound(file, number, name) if is_seen else None
            if values is None:
                values = names.unqualified(self, file, number, name)
            if values is not None:
                return values
            is_open = is_open or names.is_open(self, file, number)
            inner = False
            number = scope.parent
        return semantics.visible.outside(self, file, place, name, is_open=is_open)

    def bound(self, file: FileSymbols, number: int, name: str) -> Values | None:
        """Return the values that a scope itself binds a name to; None where it does not."""
        found = semantics_of(file).names.bound(self, file, number, name)
        for each in file.imports.get((number, name), ()):
            found.append(self.imported(file.path, each))
        for position, parameter in enumerate(file.scope(number).parameters):
            if parameter.name.lstrip("*") == name:
                found.append(self.parameter(file, number, position))
        return union(found) if found else None

    def imported(self, importer: str, each: Import) -> Values:
        """Return the values that an import binds its name to."""
        file = self.file(importer)
        if file is None:
            return UNRESOLVED_VALUES
        return semantics_of(file).visible.imported(self, file, each)

    def binding(self, path: str, binding: Binding) -> Values:
        """Return the values that one binding gives its name."""
        file = self.file(path)
        place = ScopeRef(path, binding.scope)
        if file is not None:
            place = semantics_of(file).names.place_of(file, binding)
        if binding.how in (TYPED, HELD):
            types = self.evaluate(place, binding.value)
            return self.instances(types, OPEN if binding.how == TYPED else "")
        if binding.how == ITERATED:
            return self.containers.looped(place, binding.value)
        values = self.evaluate(place, binding.value)
        if binding.how == ENTERED:
            entered = self.calls.called(self.attribute(values, "__enter__"))
            return entered if any(v.kind != EXTERNAL for v in entered) else values
        return values

    def _defined(self, path: str, number: int) -> Values:
        """Return a definition as its decorators change it; a namespace is a package."""
        file = self.file(path)
        values: Values = frozenset([Value(DEFINITION, path, number)])
        if file is None:
            return values
        if (package := semantics_of(file).names.package(file, number)) is not None:
            return frozenset([package])
        scope = file.scope(number)
        outer = ScopeRef(path, scope.parent)
        return self.calls.decorated(outer, scope, values) if self._decorates else values

    def instances(self, classes: Values, name: str = "") -> Values:
        """Return instances of classes; OPEN names an instance that may be of a subclass."""
        kinds = {DEFINITION: INSTANCE, TYPE: DEFINITION}
        return frozenset(
            value._replace(kind=kinds[value.kind], name=name if value.kind == DEFINITION else "")
            if value.kind in kinds
            else value
            for value in classes
        )

    # Attributes

    def attribute(self, values: Values, name: str) -> Values:
        """Return the members of values by their name: `Cart` and `add` → `Cart.add`."""
        return union(self._attribute(value, name) for value in values)

    def _attribute(self, value: Value, name: str) -> Values:
        if value.kind == EXTERNAL:
            return UNRESOLVED_VALUES if is_open(value.name) else external(f"{value.name}.{name}")
        if value.kind == PACKAGE:
            return self._packaged(value, name)
        if value.kind == FILE:
            file = self.file(value.path)
            found = semantics_of(file).visible.exported(self, file, name) if file else None
            return UNRESOLVED_VALUES if found is None else found
        if value.kind == LITERAL_VALUE:
            return self.containers.member(value, name)
        if value.kind in (DEFINITION, INSTANCE, PARENT):
            return self._member(value, name)
        return member_of_unknown(value)

    def _packaged(self, value: Value, name: str) -> Values:
        file = self.file(value.path)
        if file is None:
            return UNRESOLVED_VALUES
        return semantics_of(file).visible.attribute(self, file, value, name)

    def _member(self, value: Value, name: str) -> Values:
        file = self.file(value.path)
        if file is None:
            return UNRESOLVED_VALUES
        return semantics_of(file).members.of_value(self, file, value, name)
