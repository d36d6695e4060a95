"""Variables of languages that declare their types: what they hold, and where they are seen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ctx_indexer.graph.files import FileSymbols
from ctx_indexer.graph.values import (
    CHANGED_VALUE,
    DEFINITION,
    INSTANCE,
    LITERAL_VALUE,
    UNRESOLVED,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    CHANGED,
    CLASS,
    EITHER,
    FILE_SCOPE,
    LAMBDA,
    OUTER,
    Binding,
)

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver

MAX_NAMED = 4  # types that are named after one another
_TYPES = (DEFINITION, INSTANCE)
_FUNCTION_VALUES = frozenset([LAMBDA, EITHER, CHANGED])  # what variables of functions begin with


class Variables:
    """Resolves what variables hold."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver

    def written(self, place: ScopeRef, expression: Sequence[Any]) -> Values:
        """Return what a variable is changed to, which keeps its type but may hold other functions;
        or what an expression means outside of its scope."""
        if expression[0] == CHANGED:
            values = self._resolver.evaluate(place, expression[1])
            unknown = any(value.kind == UNRESOLVED for value in values)
            held = frozenset(value for value in values if self._resolver.function_of(value))
            return held | {CHANGED_VALUE} if unknown else held
        if expression[0] == OUTER:
            return self._resolver.evaluate(self._around(place), expression[1])
        return UNRESOLVED_VALUES

    def underlying(self, value: Value) -> Value:
        """Return the container that a type with a name of its own is; else the value."""
        named = value
        for _ in range(MAX_NAMED):
            file = self._resolver.tables.file(named.path) if named.kind in _TYPES else None
            scope = file.scope(named.scope) if file and file.rules.static else None
            if scope is None or scope.kind != CLASS:
                return value
            written = scope.returns or (scope.bases[0] if len(scope.bases) == 1 else "")
            found = self._resolver.evaluate(ScopeRef(named.path, scope.parent), written)
            if len(found) != 1:
                return value
            (named,) = found
            if named.kind == LITERAL_VALUE:
                return named
        return value

    def _around(self, place: ScopeRef) -> ScopeRef:
        file = self._resolver.tables.file(place.path)
        parent = file.scope(place.scope).parent if file else 0
        return place._replace(scope=max(parent, 0))


def seen(file: FileSymbols, number: int, name: str) -> Sequence[Binding]:
    """Return what a plain name means in a scope, by the scope itself.

    Where variables are declared, members are no names, and a package shares its variables.
    """
    found = file.bindings.get((number, name), ())
    if not file.rules.static or not found:
        return found
    if file.scope(number).kind == CLASS:
        return [each for each in found if each.how == ASSIGNED and not _is_definition(each)]
    is_open = number == FILE_SCOPE and (len(found) > 1 or not _is_definition(found[0]))
    return () if is_open and all(map(_may_change, found)) else found


def _may_change(binding: Binding) -> bool:
    """Whether other files of the package may change what a call of a variable runs."""
    value = binding.value
    return binding.how == ASSIGNED and (isinstance(value, str) or value[0] in _FUNCTION_VALUES)


def _is_definition(binding: Binding) -> bool:
    return isinstance(binding.value, list) and binding.value[0] == LAMBDA
