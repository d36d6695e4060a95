"""Overloads that fit a call, by the number and the simple types of its arguments."""

from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.overloads import OneRuns
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    IN_TYPE,
    LITERAL,
    Call,
    Expression,
)


class Fitting(OneRuns):
    """Compares the arguments of calls with the parameters of overloads."""

    def fitting(self, machine: Machine, place: ScopeRef, call: Call, values: Values) -> Values:
        """Leave out the overloads that a call's arguments do not fit, by number, then by types."""
        if len(values) < 2:
            return values
        counted = frozenset(v for v in values if fits_count(machine, v, len(call.arguments)))
        typed = frozenset(v for v in counted if _fits_types(machine, place, v, call))
        return typed or counted or values


def fits_count(machine: Machine, value: Value, count: int) -> bool:
    """Whether a function takes a count of arguments: `f(a, b=1)` takes 1 and 2, `f(*a)` any."""
    scope = machine.function_of(value)
    if scope is None:
        return True
    parameters = scope.parameters[1:] if scope.receiver == IN_TYPE else scope.parameters
    required = sum(1 for each in parameters if not each.default and each.name[:1] != "*")
    is_open = any(each.name.startswith("*") for each in parameters)
    return required <= count and (is_open or count <= len(parameters))


def _fits_types(machine: Machine, place: ScopeRef, value: Value, call: Call) -> bool:
    scope = machine.function_of(value)
    if scope is None:
        return True
    parameters = scope.parameters[1:] if scope.receiver == IN_TYPE else scope.parameters
    return all(
        _fits_type(machine, place, ScopeRef(value.path, scope.parent), parameter.type, argument)
        for parameter, argument in zip(parameters, call.arguments, strict=False)
    )


def _fits_type(
    machine: Machine, place: ScopeRef, home: ScopeRef, expected: Expression, given: Expression
) -> bool:
    """Whether an argument may be of a type; an unknown one may."""
    if isinstance(given, list) and given[0] == LITERAL and isinstance(expected, str):
        return _literals_fit(expected.rpartition(".")[2], str(given[1]))
    if not expected or not given:
        return True
    classes = {v for v in machine.evaluate(home, expected) if v.kind == DEFINITION}
    every = machine.evaluate(place, given)
    values = [v for v in every if v.kind == INSTANCE]
    if not values:
        names = [v.name.rpartition(".")[2] for v in every if v.kind == EXTERNAL]
        is_named = isinstance(expected, str) and not classes and names
        return not is_named or any(_literals_fit(str(expected), name) for name in names)
    if not classes:
        return isinstance(expected, str) and expected.lower() not in _PRIMITIVE
    return any(
        Value(DEFINITION, *ancestor) in classes
        for each in values
        for ancestor in machine.classes.ancestors(ScopeRef(each.path, each.scope))
    )


_TEXT = frozenset(["string", "charsequence", "string_view", "object", "any", "char"])
_NUMBER = frozenset(
    "int long short byte double float integer decimal number size_t unsigned object any".split()
)
_KINDS = {
    "string": _TEXT,
    "int": _NUMBER,
    "double": _NUMBER,
    "number": _NUMBER,
    "bool": frozenset(["bool", "boolean", "object", "any"]),
    "boolean": frozenset(["bool", "boolean", "object", "any"]),
    "char": frozenset(["char", "character", "object", "any"]),
}
_PRIMITIVE = (_TEXT | _NUMBER | {"bool", "boolean"}) - {"object", "any"}


def _literals_fit(expected: str, given: str) -> bool:
    """Whether a literal is of a named type: `1` of `long`, not of `string`; of unknown ones yes."""
    expected, kinds = expected.lower(), _KINDS.get(given.lower())
    return kinds is None or expected in kinds or expected not in _PRIMITIVE
