"""What calls run and return, and what is passed to parameters."""

from itertools import islice
from typing import TYPE_CHECKING, Any

from services.indexer.graph.files import CONSTRUCTOR, FileSymbols
from services.indexer.graph.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    NOTHING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from services.indexer.syntax.symbols.table import (
    BY_NAME,
    CLASS,
    Call,
    Expression,
    Scope,
)

if TYPE_CHECKING:
    from services.indexer.graph.resolver import Resolver

MAX_SITES = 100  # calls of a function that are looked at for what they pass
MAX_CALLERS_DEEP = 2  # how far a parameter is followed to what callers pass


class Calls:
    """Resolves calls."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver

    def called(self, values: Values) -> Values:
        """Return what calling values gives."""
        return union(self._called(value) for value in values)

    def _called(self, value: Value) -> Values:
        if value.kind == EXTERNAL:
            return external(f"{value.name}()")
        if value.kind == INSTANCE:
            return self.called(self._resolver.classes.inherited(value, "__call__"))
        file = self._resolver.tables.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            return UNRESOLVED_VALUES
        scope = file.scope(value.scope)
        if scope.kind == CLASS:
            return frozenset([Value(INSTANCE, value.path, value.scope)])
        with self._resolver.entered(("returns", value)) as entered:
            return self._returned(file, value, scope) if entered else NOTHING

    def _returned(self, file: FileSymbols, value: Value, scope: Scope) -> Values:
        found = [
            self._resolver.evaluate(ScopeRef(value.path, value.scope), each)
            for each in file.results.get(value.scope, ())
        ]
        if scope.returns:
            annotated = self._resolver.evaluate(ScopeRef(value.path, scope.parent), scope.returns)
            found.append(self._resolver.instances(annotated))
        return union(found) if found else external(f"{BUILTINS}.None")

    def parameter(self, file: FileSymbols, number: int, position: int) -> Values:
        """Return what a parameter of a function may be: its receiver, its type, its arguments."""
        scope = file.scope(number)
        if position == 0 and scope.parent >= 0 and file.scope(scope.parent).kind == CLASS:
            receiver = file.receiver(number)
            if receiver is not None and receiver[0] == scope.parent:
                kind = DEFINITION if file.takes_class(number) else INSTANCE
                return frozenset([Value(kind, file.path, scope.parent)])
        parameter = scope.parameters[position]
        found = [UNRESOLVED_VALUES]
        if parameter.type:
            outer = ScopeRef(file.path, scope.parent)
            return self._resolver.instances(self._resolver.evaluate(outer, parameter.type))
        if parameter.default:
            found.append(
                self._resolver.evaluate(ScopeRef(file.path, scope.parent), parameter.default)
            )
        if self._resolver.callers_deep < MAX_CALLERS_DEEP and not parameter.name.startswith("*"):
            with self._resolver.entered(("parameter", file.path, number, position)) as entered:
                if entered:
                    self._resolver.callers_deep += 1
                    found += self._arguments(file, number, position)
                    self._resolver.callers_deep -= 1
        return union(found)

    def _arguments(self, file: FileSymbols, number: int, position: int) -> list[Values]:
        """Return what callers pass for a parameter."""
        scope = file.scope(number)
        target = Value(DEFINITION, file.path, number)
        name, _ = file.called_name(number)
        in_class = file.scope(scope.parent).kind == CLASS
        shift = 1 if in_class and file.receiver(number) is not None else 0
        found: list[Values] = []
        sites = (
            (other, call)
            for other in self._resolver.tables.callers(name)
            for call in other.calls_of(name)
        )
        for other, call in islice(sites, MAX_SITES):
            argument = _argument(call, position - shift, scope.parameters[position].name)
            place = ScopeRef(other.path, call.scope)
            if self._resolver.exhausted:
                break
            if argument and target in self.targets(place, call):
                found.append(self._resolver.evaluate(place, argument))
        return found

    def targets(self, place: ScopeRef, call: Call) -> Values:
        """Return the functions that a call runs."""
        values = self._resolver.evaluate(place, call.function)
        return union(self._run(value) for value in values)

    def _run(self, value: Value) -> Values:
        """Return the functions that calling a value runs."""
        if value.kind == INSTANCE:
            return self._resolver.classes.inherited(value, "__call__")
        if value.kind != DEFINITION:
            return frozenset([value])
        file = self._resolver.tables.file(value.path)
        if file is None or file.scope(value.scope).kind != CLASS:
            return frozenset([value])
        found = self._resolver.classes.inherited(value, CONSTRUCTOR)
        return frozenset(v for v in found if v.kind == DEFINITION) or frozenset([value])


def _argument(call: Call, position: int, name: str) -> Expression | None:
    """Return what a call passes for a parameter, by its name or its position."""
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
