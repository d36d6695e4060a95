"""Question 5: which values does a call give?"""

from collections.abc import Sequence
from typing import Any

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    INSTANCE,
    LITERAL_VALUE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.table import Expression


class Results:
    """By default a call gives the declared type of its function, else the results of its body."""

    def given(
        self,
        machine: Machine,
        place: ScopeRef,
        function: Expression,
        arguments: Sequence[Expression],
    ) -> Values:
        """Return the values that a call gives: `Cart()` → an instance of `Cart`."""
        return machine.called(machine.evaluate(place, function))

    def returned(self, machine: Machine, file: FileSymbols, number: int) -> Values:
        """Return the values that a function returns; nothing stands for `builtins.None`."""
        scope = file.scope(number)
        if scope.returns:
            declared = machine.typed(file, number, scope.returns)
            if any(each.kind in (INSTANCE, LITERAL_VALUE) for each in declared):
                return declared
        return of_body(machine, file, number)

    def declared(
        self, machine: Machine, place: ScopeRef, type_: Expression, value: Expression
    ) -> Values:
        """Return the value of a variable, where it is known, else an instance of its type.

        `Shape s = new Square()` → an instance of `Square`.
        """
        assigned = machine.evaluate(place, value)
        declared = machine.instances(machine.evaluate(place, type_))
        if any(each.kind in (DEFINITION, INSTANCE) for each in assigned):
            return assigned
        is_known = any(each.kind in (INSTANCE, LITERAL_VALUE) for each in declared)
        return declared if is_known else assigned | declared

    def is_pointer(self, value: Value) -> bool:
        """Whether an instance is known through a pointer, whose declaration constructs nothing.

        In C++, `Cart *c;` declares a pointer, and `Cart c(1);` constructs a `Cart`.
        """
        return False

    def operated(self, machine: Machine, place: ScopeRef, expression: Sequence[Any]) -> Values:
        """Return the value that an operator gives: `1 + 2.0` → a `double` in Java."""
        return UNRESOLVED_VALUES


def of_body(machine: Machine, file: FileSymbols, number: int) -> Values:
    """Return the results of a function's body, and an instance of its declared type."""
    place, scope = ScopeRef(file.path, number), file.scope(number)
    found = [machine.evaluate(place, each) for each in file.results.get(number, ())]
    if scope.returns:
        found.append(machine.typed(file, number, scope.returns))
    return union(found) if found else external(f"{BUILTINS}.None")
