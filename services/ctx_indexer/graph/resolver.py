"""Resolves expressions to definitions: by scope, import, receiver and type.

Nothing is resolved before it is asked. Tables that are not loaded yet are noted by `Tables` and
taken for unknown; the caller loads them and asks again.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol, TypeVar

from ctx_indexer.graph.calls import Calls
from ctx_indexer.graph.classes import Classes
from ctx_indexer.graph.containers import Containers
from ctx_indexer.graph.definitions import ALLOCATOR
from ctx_indexer.graph.files import FileSymbols
from ctx_indexer.graph.go.variables import seen
from ctx_indexer.graph.javascript.objects import Objects
from ctx_indexer.graph.names.imports import Imports
from ctx_indexer.graph.names.packages import Packages
from ctx_indexer.graph.native.declarations import Declarations
from ctx_indexer.graph.native.overloads import Overloads
from ctx_indexer.graph.python.bodies import parents, place_of
from ctx_indexer.graph.python.library import Library, is_builtin, is_open
from ctx_indexer.graph.python.properties import Properties
from ctx_indexer.graph.rules import Names
from ctx_indexer.graph.typed.methods import Methods
from ctx_indexer.graph.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    FILE,
    INSTANCE,
    LITERAL_VALUE,
    NOTHING,
    OPEN,
    PACKAGE,
    PARENT,
    PASSING,
    TYPE,
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
    NAMESPACE,
    NEW,
    OPERATION,
    TYPED,
    Binding,
    Expression,
    Scope,
    last_name,
)

T = TypeVar("T")

MAX_DEPTH = 20  # of expressions that are resolved for one another
MAX_STEPS = 1_000  # of one question
_PATH_WORDS = frozenset(["self", "super", "crate"])


class Tables(Protocol):
    """The files that a resolver may read."""

    misses: int  # how often something was asked for that is not loaded yet

    def file(self, path: str) -> FileSymbols | None: ...

    def callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the files that may call something of this name."""
        ...

    def few_callers(self, name: str) -> Sequence[FileSymbols]:
        """Return those that are loaded, and others as long as they are few."""
        ...

    def definers(self, name: str) -> Sequence[FileSymbols]:
        """Return the files that define a name for others, or add members to a class of it."""
        ...


class Resolver:
    """Answers what expressions stand for. One is made for each question.

    What was resolved is kept, until the next round where it lacked tables that are not loaded yet.
    """

    def __init__(self, tables: Tables, *, decorates: bool = True) -> None:
        """Without `decorates`, a name stands for what was defined, not what decorators made."""
        self.tables = tables
        self._decorates = decorates
        self.classes = Classes(self)
        self.calls = Calls(self)
        self.containers = Containers(self)
        self.declarations = Declarations(self)
        self.imports = Imports(self)
        self.library = Library(self)
        self.methods = Methods(self)
        self.overloads = Overloads(self)
        self.objects = Objects(self)
        self.packages = Packages(self)
        self.properties = Properties(self)
        self._memo: dict[object, Any] = {}
        self._of_round: dict[object, Any] = {}
        self._active: set[object] = set()
        self._depth = self._steps = 0
        self.callers_deep = 0
        self._cuts = 0  # how often resolving was cut short

    def start(self) -> None:
        """Begin a question: its steps are counted from here; what was resolved is kept."""
        self._steps = 0

    def begin_round(self) -> None:
        """Forget what was resolved without tables that may be loaded by now."""
        self._of_round = {}
        self.classes.begin_round()
        vars(self).pop("undecorated", None)

    @cached_property
    def undecorated(self) -> "Resolver":
        """The same, without what decorators do."""
        return Resolver(self.tables, decorates=False)

    def remember(self, key: object, compute: Callable[[], T]) -> T:
        """Return what was computed under a key, or compute it."""
        for known in (self._memo, self._of_round):
            if key in known:
                result: T = known[key]
                return result
        cuts, misses = self._cuts, self.tables.misses
        computed = compute()
        if self._cuts == cuts:  # else it depends on what was being resolved around it
            (self._memo if self.tables.misses == misses else self._of_round)[key] = computed
        return computed

    def scope_of(self, value: Value) -> Scope | None:
        """Return the scope of a definition; None for any other value, or one that is not loaded."""
        file = self.tables.file(value.path) if value.kind == DEFINITION else None
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
        """Return what an expression may stand for at a place."""
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
        operator = expression[0]
        if operator == CALL:
            return self._call(place, expression[1], expression[2:])
        if operator == ATTRIBUTE:
            return self.attribute(self.evaluate(place, expression[1]), expression[2])
        if operator == ITEM:
            return self.containers.item(place, expression[1], expression[2])
        if operator == ITERATED:
            return self.containers.looped(place, expression[1])
        if operator == EITHER:
            return union(self.evaluate(place, each) for each in expression[1:])
        if operator == LAMBDA:
            return self._defined(place.path, expression[1])
        if operator == LITERAL:
            return external(f"{BUILTINS}.{expression[1]}")
        if operator == NEW:
            return self._classes(self.evaluate(place, expression[1]))
        if operator == DECLARED:
            return self.containers.declared(place, expression[1], expression[2])
        if operator == OPERATION:
            return self.methods.operated(place, expression)
        return self.containers.written(place, expression)

    def _dotted(self, place: ScopeRef, expression: str) -> Values:
        first, *rest = expression.split(".")
        values = self.name(place, first)
        file = self.tables.file(place.path)
        runs = file is not None and file.rules.runs_names
        if rest and file and file.rules.objects:
            return self.objects.member(file, place, values, expression)
        if rest and file:
            values = self.imports.or_crate(file, first, values)
        for name in rest:
            values = self.attribute(self.calls.ran(values) if runs else values, name)
        return values

    def _classes(self, values: Values) -> Values:
        """Return the classes that are named, or those of named instances."""
        return frozenset(
            value._replace(kind=DEFINITION, name="") if value.kind == INSTANCE else value
            for value in values
            if not self.declarations.is_pointer(value)
        )

    def _declares(self, place: ScopeRef) -> bool:
        file = self.tables.file(place.path)
        return file is not None and file.rules.declares

    def _call(
        self, place: ScopeRef, function: Expression, arguments: Sequence[Expression]
    ) -> Values:
        if function == "super" and (above := parents(self, place, arguments)):
            return above
        if arguments and last_name(function) == ALLOCATOR:
            return self.instances(self.evaluate(place, arguments[0]))
        if isinstance(function, list) and function[0] == NEW:
            return self.instances(self.evaluate(place, function))
        if self._declares(place):
            return self.methods.given(place, function, arguments)
        functions = self.evaluate(place, function)
        given = self.library.given(place, functions, arguments) if arguments else None
        return self.calls.result(place, function, functions) if given is None else given

    # Names

    def name(self, place: ScopeRef, name: str) -> Values:
        """Look a name up in a scope and those around it, then by the rules of the language."""
        file = self.tables.file(place.path)
        if file is None:
            return UNRESOLVED_VALUES
        if (values := self._keyword(file, place, name)) is not None:
            return values
        number, inner, foreign = place.scope, True, False
        while number >= 0:
            scope = file.scope(number)
            is_seen = inner or scope.kind not in (CLASS, EXTENSION)
            values = self.bound(file, number, name) if is_seen else None
            if values is not None:
                return values
            if file.rules.implicit and (scope.kind == CLASS or scope.owner):
                values = self.classes.implicit(file, number, name)
                if values is not None:
                    return values
                foreign = foreign or self.classes.is_foreign(file, number)
            inner = False
            number = scope.parent
        return self._outside(file, place, name, foreign=foreign)

    def _outside(self, file: FileSymbols, place: ScopeRef, name: str, *, foreign: bool) -> Values:
        """Look up a name that no scope of its file binds."""
        if file.rules.names in (Names.FILES, Names.MODULES):
            for each in file.star_imports:
                values = self.imports.starred(file, each, name)
                if values is not None:
                    return values
        elif (values := self.packages.visible(file, place, name)) is not None:
            return values
        is_unseen = file.rules.explicit_self and not is_builtin(name)
        if is_unseen or (foreign and not file.rules.declares):
            return UNRESOLVED_VALUES
        return self.packages.fallback(file, name) or external(f"{BUILTINS}.{name}")

    def _keyword(self, file: FileSymbols, place: ScopeRef, name: str) -> Values | None:
        """Return what a word of the language stands for; None for any other name."""
        rules = file.rules
        if rules.objects and name in rules.instance:
            return self.objects.this(file, place)
        if name in rules.instance or name in rules.own_class or name in rules.parent:
            classes = self.classes.around(place)
            if classes:
                kinds = {DEFINITION: name in rules.own_class, PARENT: name in rules.parent}
                kind = next((kind for kind, holds in kinds.items() if holds), INSTANCE)
                return frozenset(value._replace(kind=kind) for value in classes)
        if rules.names is Names.MODULES and name in _PATH_WORDS:
            return self.imports.path_word(file, place, name)
        return None

    def bound(self, file: FileSymbols, number: int, name: str) -> Values | None:
        """Return what a scope itself binds a name to; None where it does not."""
        found = self.objects.bound(file, seen(file, number, name))
        for each in file.imports.get((number, name), ()):
            found.append(self.imports.imported(file.path, each))
        found += self.classes.receivers(file, number, name)
        for position, parameter in enumerate(file.scope(number).parameters):
            if parameter.name.lstrip("*") == name:
                found.append(self.calls.parameter(file, number, position))
        return union(found) if found else None

    def binding(self, path: str, binding: Binding) -> Values:
        place = place_of(self, path, binding)
        if binding.how in (TYPED, HELD):
            types = self.evaluate(self.declarations.outside(place, binding), binding.value)
            return self.instances(types, OPEN if binding.how == TYPED else "")
        if binding.how == ITERATED:
            return self.containers.looped(place, binding.value)
        values = self.evaluate(place, binding.value)
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
        if scope.kind == NAMESPACE and file.rules.names is Names.PACKAGES:
            return frozenset([Value(PACKAGE, path, name=file.package_of(number))])
        outer = ScopeRef(path, scope.parent)
        return self.calls.decorated(outer, scope, values) if self._decorates else values

    def instances(self, classes: Values, name: str = "") -> Values:
        """Return instances of classes; OPEN names those that may be of a subclass."""
        kinds = {DEFINITION: INSTANCE, TYPE: DEFINITION}
        return frozenset(
            value._replace(kind=kinds[value.kind], name=name if value.kind == DEFINITION else "")
            if value.kind in kinds
            else value
            for value in classes
        )

    # Attributes

    def attribute(self, values: Values, name: str) -> Values:
        """Return an attribute of values."""
        return union(self._attribute(value, name) for value in values)

    def _attribute(self, value: Value, name: str) -> Values:
        if value.kind == EXTERNAL:
            return UNRESOLVED_VALUES if is_open(value.name) else external(f"{value.name}.{name}")
        if value.kind == PACKAGE:
            return self.packages.attribute(value, name)
        if value.kind == FILE:
            file = self.tables.file(value.path)
            found = self.imports.member(file, name) if file else None
            return UNRESOLVED_VALUES if found is None else found
        if value.kind == LITERAL_VALUE:
            return self.containers.member(value, name)
        if value.kind in (DEFINITION, INSTANCE, PARENT):
            return self._member(value, name)
        return member_of_unknown(value)

    def _member(self, value: Value, name: str) -> Values:
        file = self.tables.file(value.path)
        if file is None:
            return UNRESOLVED_VALUES
        is_function = file.scope(value.scope).kind == FUNCTION
        if is_function and value.kind == DEFINITION and name in file.rules.callable_members:
            return frozenset([value])
        if file.rules.declares and name in file.rules.instance and not is_function:
            return self.instances(frozenset([value]), OPEN)  # the instance of a class around
        found = self.classes.inherited(value, name)
        if found == UNRESOLVED_VALUES and name in file.rules.passing:
            return frozenset([value._replace(kind=PASSING)])
        return found
