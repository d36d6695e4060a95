"""The rules of Java: declared types choose the method that a call runs."""

from collections.abc import Sequence
from typing import Any

from ctx_indexer.languages.jvm.definitions import without_methods
from ctx_indexer.languages.jvm.methods import Methods
from ctx_indexer.languages.semantics.definitions import Bindings, Definitions
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import Members
from ctx_indexer.languages.semantics.names import MemberNames
from ctx_indexer.languages.semantics.results import Results, of_body
from ctx_indexer.languages.semantics.targets import Compiled, classes_of
from ctx_indexer.languages.semantics.values import NOTHING, OPEN, ScopeRef, Value, Values
from ctx_indexer.syntax.symbols.table import FUNCTION, NEW, Call, Expression


def _methods(machine: Machine) -> Methods:
    return machine.remember(Methods, lambda: Methods(machine))


class Fields(MemberNames):
    """A field and a method may have one name; no class is taken to have unknown members."""

    def keep(self, file: Definitions, found: Bindings) -> None:
        without_methods(file, found)

    def is_open(self, machine: Machine, file: FileSymbols, number: int) -> bool:
        return False


class ByTypes(Compiled):
    """The types of receiver and arguments choose a method, as the compiler does."""

    def of_call(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        return _methods(machine).targets(place, call)

    def named(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        if not (isinstance(call.function, list) and call.function[0] == NEW):
            return NOTHING
        return classes_of(machine, machine.evaluate(place, call.function))

    def replacing(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        targets = machine.targets(place, call)
        return _methods(machine).replacing(place, call.function, targets)

    def replaced_by(self, machine: Machine, file: FileSymbols, target: Value) -> Values:
        replaces = _methods(machine).replaces
        found = super().replaced_by(machine, file, target)
        return frozenset(each for each in found if replaces(target, each))


class Declared(Results):
    """A call gives the declared type of its method, also where that is not known."""

    def given(
        self,
        machine: Machine,
        place: ScopeRef,
        function: Expression,
        arguments: Sequence[Expression],
    ) -> Values:
        return _methods(machine).given(place, function, arguments)

    def returned(self, machine: Machine, file: FileSymbols, number: int) -> Values:
        scope = file.scope(number)
        if scope.returns:
            return machine.typed(file, number, scope.returns)
        return of_body(machine, file, number)

    def declared(
        self, machine: Machine, place: ScopeRef, type_: Expression, value: Expression
    ) -> Values:
        return _methods(machine).declared(place, type_, value)

    def operated(self, machine: Machine, place: ScopeRef, expression: Sequence[Any]) -> Values:
        return _methods(machine).operated(place, expression)


class Outer(Members):
    """`Cart.this` is the instance of the class `Cart` around; a declared field has its type."""

    def of_value(self, machine: Machine, file: FileSymbols, value: Value, name: str) -> Values:
        is_function = file.scope(value.scope).kind == FUNCTION
        if name in file.words.instance and not is_function:
            return machine.instances(frozenset([value]), OPEN)
        return super().of_value(machine, file, value, name)

    def is_declared(self, *, found: bool, typed: bool) -> bool:
        return found
