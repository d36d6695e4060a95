"""Calls of Swift: labels of arguments tell functions of one name apart."""

from collections.abc import Iterator, Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.overloads import OneRuns
from ctx_indexer.languages.semantics.targets import Compiled
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    INSTANCE,
    NOTHING,
    UNRESOLVED,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    ARROW,
    BY_NAME,
    CLASS,
    DECLARATION,
    LAMBDA,
    LOCAL,
    Call,
    Expression,
    Parameter,
    Scope,
)

_NO_LABEL = "_"
# Members that run without a call of their name; a type is constructed as its `init` is.
_UNSEEN = {
    "init": "constructed as .init, of the type that a place expects",
    "deinit": "run when the last reference goes",
    "subscript": "run by []",
}


class Requirements(Compiled):
    """A protocol declares methods that types define; a variable may have a function's name."""

    def meant(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        """Look around the scope of a variable that cannot be called: `let price = price()`."""
        values, name = super().meant(machine, place, call), call.function
        file = machine.file(place.path)
        if file is None or not isinstance(name, str) or any(map(_may_be_called, values)):
            return values
        outer = file.scope(place.scope).parent
        if "." in name or outer < 0:
            return values
        behind = machine.name(ScopeRef(place.path, outer), name)
        return behind if any(each.kind == DEFINITION for each in behind) else values

    def is_declared_only(self, file: FileSymbols, number: int) -> bool:
        return DECLARATION in file.scope(number).marks

    def unseen(self, file: FileSymbols, number: int, *, is_used: bool) -> Iterator[str]:
        yield from super().unseen(file, number, is_used=is_used)
        scope = file.scope(number)
        is_type = scope.kind == CLASS and DECLARATION not in scope.marks  # no protocol
        name = "init" if is_type else scope.name
        is_seen = is_type and LOCAL in scope.marks and name not in file.calls
        if name in _UNSEEN and not is_seen:
            yield _UNSEEN[name]


def _may_be_called(value: Value) -> bool:
    return value.kind in (DEFINITION, INSTANCE, UNRESOLVED)


class Labels(OneRuns):
    """`add(x, at: 1)` runs `add(_:at:)`, and neither `add(_:)` nor `add(_:to:)`."""

    def fitting(self, machine: Machine, place: ScopeRef, call: Call, values: Values) -> Values:
        """Leave out functions of other labels; where none fits, another one may be meant."""
        functions = {each: scope for each in values if (scope := machine.function_of(each))}
        lacking = {each: _lacking(scope, call.arguments) for each, scope in functions.items()}
        fewest = min((count for count in lacking.values() if count is not None), default=0)
        fitting = {each for each, count in lacking.items() if count == fewest}
        return (values - functions.keys()) | fitting or UNRESOLVED_VALUES

    def one_of(self, machine: Machine, values: Values, sure: Sequence[Value]) -> Values:
        """Return no overload where the called name may hold other functions: a closure passed."""
        if any(each.kind == UNRESOLVED for each in values):
            return NOTHING
        return super().one_of(machine, values, sure)


def _lacking(function: Scope, arguments: Sequence[Expression]) -> int | None:
    """Return how many more parameters a function has than a call gives; None if it does not fit.

    The compiler takes the function that leaves out the fewest: `add(1)` runs `add(_:)` and not
    `add(_:label:)` with a default.
    """
    if ARROW in function.marks:  # a closure is called without labels
        return 0
    parameters = function.parameters
    is_variadic = any(each.name.startswith("*") for each in parameters)
    count = max(len(parameters) - len(arguments), 0) + is_variadic
    return count if fits(parameters, arguments) else None


def fits(parameters: Sequence[Parameter], arguments: Sequence[Expression]) -> bool:
    """Whether arguments have the labels of parameters in their order; defaults may be left out.

    A closure that stands behind the others needs no label: `run { … }` → `run(body:)`.
    """
    at = 0
    for argument in arguments:
        label = _label(argument)
        if at and label == _NO_LABEL and parameters[at - 1].name.startswith("*"):
            continue
        found = _position(parameters, at, label)
        if found is None and label == _NO_LABEL and _is_closure(argument):
            found = _last_lacking(parameters, at)
        if found is None:
            return False
        at = found + 1
    return all(map(_may_lack, parameters[at:]))


def _position(parameters: Sequence[Parameter], at: int, label: str) -> int | None:
    """Return the next parameter of a label, behind some that may be left out; None without."""
    for position in range(at, len(parameters)):
        if parameters[position].name.lstrip("*") == label:
            return position
        if not _may_lack(parameters[position]):
            return None
    return None


def _last_lacking(parameters: Sequence[Parameter], at: int) -> int | None:
    """Return the first parameter that may not be left out, else the last; None without any."""
    needed = (p for p in range(at, len(parameters)) if not _may_lack(parameters[p]))
    return next(needed, len(parameters) - 1 if at < len(parameters) else None)


def _label(argument: Expression) -> str:
    is_named = isinstance(argument, list) and bool(argument) and argument[0] == BY_NAME
    return str(argument[1]) if is_named else _NO_LABEL


def _is_closure(argument: Expression) -> bool:
    return isinstance(argument, list) and bool(argument) and argument[0] == LAMBDA


def _may_lack(parameter: Parameter) -> bool:
    return bool(parameter.default) or parameter.name.startswith("*")
