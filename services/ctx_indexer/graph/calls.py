"""The functions that calls run, the values they give, and the arguments they pass."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ctx_indexer.graph.containers import Containers
from ctx_indexer.languages.semantics.definitions import CONSTRUCTOR
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.outside import gives_anything
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    EXTERNAL,
    FILE,
    INSTANCE,
    LACKING_VALUE,
    LITERAL_VALUE,
    NOTHING,
    OPEN,
    PARENT,
    PASSING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    BY_NAME,
    CLASS,
    MODULE,
    NAMESPACE,
    Call,
    Expression,
    Scope,
    called_member,
)

MAX_SITES = 100  # calls of a function whose arguments are read
MAX_CALLERS_DEEP = 2  # parameters followed to arguments of callers, which may be parameters again


class Calls:
    """Resolves calls: to the functions they run, and to their results."""

    def __init__(self, machine: Machine, containers: Containers) -> None:
        self._machine = machine
        self._containers = containers
        self._callers_deep = 0

    def called(self, values: Values) -> Values:
        """Return the results of calling values: `Cart` → an instance of `Cart`."""
        return union(self._called(value) for value in values)

    def _called(self, value: Value) -> Values:
        if value.kind == EXTERNAL:
            return UNRESOLVED_VALUES if gives_anything(value.name) else external(f"{value.name}()")
        if value.kind == INSTANCE:
            return self.called(self._machine.classes.inherited(value, "__call__"))
        if value.kind == PASSING:
            return frozenset([value._replace(kind=INSTANCE)])
        if value.kind == LITERAL_VALUE:
            return self._containers.called(value)
        if value.kind == FILE:
            return self.called(self._whole(value))
        if value == LACKING_VALUE:
            return frozenset([value])
        file = self._machine.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            return UNRESOLVED_VALUES
        scope = file.scope(value.scope)
        if scope.kind == CLASS:
            return frozenset([Value(INSTANCE, value.path, value.scope)])
        if scope.kind in (MODULE, NAMESPACE):
            return UNRESOLVED_VALUES
        with self._machine.entered(("returns", value)) as entered:
            if not entered:
                return NOTHING
            return semantics_of(file).results.returned(self._machine, file, value.scope)

    def decorated(self, place: ScopeRef, scope: Scope, values: Values) -> Values:
        """Return the results of the decorators of a definition: `@wrap def f()` → `wrap.inner`."""
        for decorator in reversed(scope.decorators):
            made = self.called(self._machine.evaluate(place, decorator))
            values = frozenset(v for v in made if v.kind == DEFINITION) or values
        return values

    def _whole(self, value: Value) -> Values:
        file = self._machine.file(value.path)
        whole = semantics_of(file).visible.whole(self._machine, file) if file else None
        return whole or UNRESOLVED_VALUES

    def typed(self, file: FileSymbols, number: int, written: Expression) -> Values:
        """Return an instance of a type that the head of a function names: `-> Cart` → a `Cart`."""
        outer = semantics_of(file).parameters.head(file, number, written)
        classes = self._machine.evaluate(outer, written)
        if all(value.kind == EXTERNAL for value in classes) and isinstance(written, str):
            own = file.bindings.get((number, written), ())  # a parameter of the type
            if own:
                classes = union(self._machine.binding(file.path, each) for each in own)
        return self._machine.instances(classes, OPEN)

    def parameter(self, file: FileSymbols, number: int, position: int) -> Values:
        """Return the values of a parameter: the receiver, an instance of its type, or arguments.

        `self` → an instance of the class, `cart: Cart` → a `Cart`, `cart` → all that callers pass.
        """
        return semantics_of(file).parameters.values(self._machine, file, number, position)

    def passed(self, file: FileSymbols, number: int, position: int, shift: int = 0) -> Values:
        """Return the default of a parameter, the arguments of callers, and an unknown value."""
        scope = file.scope(number)
        parameter = scope.parameters[position]
        found = [UNRESOLVED_VALUES]
        if parameter.default:
            outer = ScopeRef(file.path, scope.parent)
            found.append(self._machine.evaluate(outer, parameter.default))
        if self._callers_deep < MAX_CALLERS_DEEP and not parameter.name.startswith("*"):
            with self._machine.entered(("parameter", file.path, number, position)) as entered:
                if entered:
                    self._callers_deep += 1
                    found += self._arguments(file, number, position, shift)
                    self._callers_deep -= 1
        return union(found)

    def _arguments(self, file: FileSymbols, number: int, position: int, shift: int) -> list[Values]:
        """Return the arguments that callers pass for a parameter: `f(g)` → `g` for `def f(run)`."""
        scope = file.scope(number)
        target = Value(DEFINITION, file.path, number)
        name, _ = file.called_name(number)
        found: list[Values] = []
        sites = (
            (other, call)
            for other in self._machine.few_callers(name)
            for call in other.calls_of(name)
        )
        for other, call in islice(sites, MAX_SITES):
            argument = _argument(call, position - shift, scope.parameters[position].name)
            place = ScopeRef(other.path, call.scope)
            if self._machine.exhausted:
                break
            if argument and target in self.targets(place, call):
                found.append(self._machine.evaluate(place, argument))
        return found

    def targets(self, place: ScopeRef, call: Call) -> Values:
        """Return the functions that a call runs, by the rules of its file's language."""
        file = self._machine.file(place.path)
        if file is None:
            return UNRESOLVED_VALUES
        return semantics_of(file).targets.of_call(self._machine, place, call)

    def run(self, place: ScopeRef, call: Call, values: Values) -> Values:
        """Return the functions that a call of values runs, before overloads are compared."""
        file = self._machine.file(place.path)
        if file is None:
            return UNRESOLVED_VALUES
        by_keyword = isinstance(call.function, str) and call.function in file.words.instance
        return union(
            self._parent_method(file, place, value, by_keyword=by_keyword)
            if value.kind == PARENT or (by_keyword and value.kind == INSTANCE)
            else self._run(value)
            for value in values
        )

    def fitting(self, place: ScopeRef, call: Call, functions: Values) -> Values:
        """Leave out the overloads that a call does not fit: `add(1)` leaves `add(int)`."""
        overloads = semantics_of(self._machine.file(place.path)).overloads
        return overloads.fitting(self._machine, place, call, functions)

    def overriding(self, place: ScopeRef, call: Call) -> Values:
        """Return the definitions of subclasses that a call may run, by its receiver."""
        targets = semantics_of(self._machine.file(place.path)).targets
        return targets.replacing(self._machine, place, call)

    def below(self, place: ScopeRef, call: Call) -> Values:
        """Return the methods of subclasses that a call may run instead, by its receiver."""
        function = call.function
        owner, name = called_member(function)
        found = [self._below(place, owner, name)] if owner else [*self._held(place, function)]
        return union([*found, self._below(place, function, "__call__")])

    def _held(self, place: ScopeRef, function: Expression) -> Iterator[Values]:
        """Yield the replacements of a method that a local name holds: `run = x.run; run()`."""
        file = self._machine.file(place.path)
        if file is None or not isinstance(function, str):
            return
        for binding in file.bindings.get((place.scope, function), ()):
            owner, name = called_member(binding.value)
            if owner and binding.how == ASSIGNED:
                yield self._below(place, owner, name)

    def _below(self, place: ScopeRef, owner: Expression, name: str) -> Values:
        return union(
            self._machine.classes.below(value, name)
            for value in self._machine.evaluate(place, owner)
            if value.kind == INSTANCE and value.name == OPEN
        )

    def _parent_method(
        self, file: FileSymbols, place: ScopeRef, value: Value, *, by_keyword: bool
    ) -> Values:
        """Return the method that a call of a parent runs: `super()` in `run` → the parent's `run`.

        `this(…)` and `super(…)` of a constructor run another constructor.
        """
        receiver = file.receiver(place.scope)
        name = CONSTRUCTOR
        if receiver is not None and not by_keyword and not file.is_constructor(receiver.method):
            name = file.scope(receiver.method).name
        return self._machine.classes.inherited(value, name)

    def _run(self, value: Value) -> Values:
        """Return the functions that calling a value runs: of a class, its constructors."""
        if value.kind == INSTANCE:
            return self._machine.classes.inherited(value, "__call__")
        if value.kind == FILE:
            return union(self._run(each) for each in self._whole(value))
        if value.kind != DEFINITION:
            return frozenset([value])
        file = self._machine.file(value.path)
        if file is None or file.scope(value.scope).kind != CLASS:
            return frozenset([value])
        found = semantics_of(file).targets.constructors(self._machine, value)
        return frozenset(v for v in found if v.kind == DEFINITION) or frozenset([value])


def _argument(call: Call, position: int, name: str) -> Expression | None:
    """Return the argument of a call for a parameter, by its name or its position."""
    for each in call.arguments:
        if _is_by_name(each) and each[1] == name:
            value: Expression = each[2]
            return value
    if 0 <= position < len(call.arguments) and not _is_by_name(call.arguments[position]):
        argument: Expression = call.arguments[position]
        return argument
    return None


def _is_by_name(argument: Any) -> bool:
    return isinstance(argument, list) and bool(argument) and argument[0] == BY_NAME
