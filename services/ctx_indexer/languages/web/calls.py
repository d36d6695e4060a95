"""Calls of JavaScript: methods that give their own instance, interfaces, declared types."""

from collections.abc import Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.overloads import Overloads
from ctx_indexer.languages.semantics.results import Results
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    INSTANCE,
    LITERAL_VALUE,
    OPEN,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    DECLARATION,
    FUNCTION,
    Call,
    Expression,
    called_member,
)


class Chains(Results):
    """A method that returns `this` gives its receiver: `builder.add().build()`."""

    def given(
        self,
        machine: Machine,
        place: ScopeRef,
        function: Expression,
        arguments: Sequence[Expression],
    ) -> Values:
        functions = machine.evaluate(place, function)
        owner = called_member(function)[0]
        is_own = bool(owner) and owner != "super"
        chained = frozenset(v for v in functions if is_own and _gives_itself(machine, v))
        if not chained:
            return machine.called(functions)
        return machine.called(functions - chained) | machine.evaluate(place, owner)

    def declared(
        self, machine: Machine, place: ScopeRef, type_: Expression, value: Expression
    ) -> Values:
        """Return an instance of a declared type; the value alone where both are of one class."""
        assigned = machine.evaluate(place, value)
        declared = machine.instances(machine.evaluate(place, type_), OPEN)
        if any(each.kind == INSTANCE for each in declared):
            same = {each[:3] for each in assigned} <= {each[:3] for each in declared}
            return assigned if same else declared
        if any(each.kind in (DEFINITION, INSTANCE) for each in assigned):
            return assigned
        is_known = any(each.kind in (INSTANCE, LITERAL_VALUE) for each in declared)
        return declared if is_known else assigned | declared


def _gives_itself(machine: Machine, value: Value) -> bool:
    """Whether a method gives the instance that it is called on."""
    file = machine.file(value.path) if value.kind == DEFINITION else None
    if file is None:
        return False
    given = [file.scope(value.scope).returns] if file.scope(value.scope).returns else []
    given = given or file.results.get(value.scope, [])
    return bool(given) and all(isinstance(e, str) and e in file.words.instance for e in given)


class WithoutTypes(Overloads):
    """An interface has no value: a call of its name runs the function of that name."""

    def fitting(self, machine: Machine, place: ScopeRef, call: Call, values: Values) -> Values:
        if len(values) < 2:
            return values
        return frozenset(v for v in values if not machine.classes.is_type(v)) or values

    def body(self, file: FileSymbols, number: int) -> int:
        """Return a function's number; declarations of it, as overloads have them, are one."""
        scope = file.scope(number)
        return number if scope.kind == FUNCTION and DECLARATION not in scope.marks else 0
