"""Attributes of classes and their instances: own, inherited, and those of subclasses."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from services.indexer.graph.values import (
    BUILTINS,
    DEFINITION,
    INSTANCE,
    NOTHING,
    PARENT,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    union,
)
from services.indexer.syntax.symbols.table import (
    ATTRIBUTE,
    CALL,
    CLASS,
    ITEM,
    Expression,
)

if TYPE_CHECKING:
    from services.indexer.graph.resolver import Resolver

MAX_ANCESTORS = 64
_WRAPPING = frozenset([CALL, ATTRIBUTE, ITEM])
PROPERTIES = frozenset(["property", "cached_property", "functools.cached_property"])


class Classes:
    """Looks attributes up in classes."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver

    def inherited(self, value: Value, name: str) -> Values:
        """Return an attribute of a class or instance: its own, inherited, or of a subclass."""
        ancestors = self.ancestors(ScopeRef(value.path, value.scope))
        for place in ancestors[1:] if value.kind == PARENT else ancestors:
            found = self._own_attribute(place, name, instance=value.kind != DEFINITION)
            if found is not None:
                return found
        if self._has_foreign_ancestor(ancestors):
            return UNRESOLVED_VALUES
        below = [] if value.kind == PARENT else self._in_subclasses(value, name)
        return union(below) if below else UNRESOLVED_VALUES

    def _own_attribute(self, place: ScopeRef, name: str, *, instance: bool) -> Values | None:
        file = self._resolver.tables.file(place.path)
        if file is None:
            return None
        found = []
        for binding in file.bindings.get((place.scope, name), ()):
            found.append(self._property(self._resolver.binding(place.path, binding), instance))
        for binding in file.attributes.get((place.scope, name), ()):
            found.append(self._resolver.binding(place.path, binding))
        return union(found) if found else None

    def _property(self, values: Values, instance: bool) -> Values:
        """Return what a property gives, for a definition that is one."""
        if not instance:
            return values
        return union(
            self._resolver.calls.called(frozenset([v])) if self.is_property(v) else frozenset([v])
            for v in values
        )

    def is_property(self, value: Value) -> bool:
        """Whether a definition is read as an attribute."""
        if value.kind != DEFINITION:
            return False
        file = self._resolver.tables.file(value.path)
        return file is not None and bool(PROPERTIES.intersection(file.marks(value.scope)))

    def ancestors(self, place: ScopeRef) -> list[ScopeRef]:
        """Return a class and those it inherits from, nearest first."""
        found: list[ScopeRef] = []
        pending = [place]
        for _ in range(MAX_ANCESTORS):
            if not pending:
                break
            current = pending.pop(0)
            if current in found:
                found.remove(current)  # a shared ancestor comes after all its descendants
            found.append(current)
            pending = [*self.parents(current), *pending]
        return found

    def parents(self, place: ScopeRef) -> list[ScopeRef]:
        """Return the classes that a class names as its bases."""
        file = self._resolver.tables.file(place.path)
        if file is None:
            return []
        scope = file.scope(place.scope)
        outer = ScopeRef(place.path, scope.parent)
        return [
            ScopeRef(value.path, value.scope)
            for base in scope.bases
            for value in self._resolver.evaluate(outer, base)
            if value.kind == DEFINITION and ScopeRef(value.path, value.scope) != place
        ]

    def _has_foreign_ancestor(self, places: Sequence[ScopeRef]) -> bool:
        """Whether a class inherits from one that is not in the repository."""
        for place in places:
            file = self._resolver.tables.file(place.path)
            if file is None:
                return True
            scope = file.scope(place.scope)
            outer = ScopeRef(place.path, scope.parent)
            for base in scope.bases:
                values = self._resolver.evaluate(outer, base)
                if any(v.kind != DEFINITION and v.name != f"{BUILTINS}.object" for v in values):
                    return True
        return False

    def _in_subclasses(self, value: Value, name: str) -> list[Values]:
        """Find an attribute that a class lacks in the classes that inherit from it."""
        file = self._resolver.tables.file(value.path)
        if file is None:
            return []
        target, found = ScopeRef(value.path, value.scope), []
        for other in self._resolver.tables.callers(file.scope(value.scope).name):
            for number, scope in enumerate(other.table.scopes):
                place = ScopeRef(other.path, number)
                if scope.kind != CLASS or not scope.bases or place == target:
                    continue
                if target in self.ancestors(place):
                    own = self._own_attribute(place, name, instance=value.kind == INSTANCE)
                    found += [own] if own is not None else []
        return found

    def properties(self, place: ScopeRef, expression: Expression) -> Values:
        """Return the properties that run while an expression is read."""
        found: set[Value] = set()
        if not isinstance(expression, str):
            return self.properties(place, expression[1]) if expression[0] in _WRAPPING else NOTHING
        first, *rest = expression.split(".")
        values = self._resolver.name(place, first) if rest else NOTHING
        for name in rest:
            for value in values:
                if value.kind == INSTANCE:
                    found.update(v for v in self._raw(value, name) if self.is_property(v))
            values = self._resolver.attribute(values, name)
        return frozenset(found)

    def _raw(self, value: Value, name: str) -> Values:
        """Return the definitions of an attribute, without running properties."""
        for place in self.ancestors(ScopeRef(value.path, value.scope)):
            file = self._resolver.tables.file(place.path)
            bound = file.bindings.get((place.scope, name)) if file else None
            if bound:
                return union(
                    self._resolver.evaluate(ScopeRef(place.path, b.scope), b.value) for b in bound
                )
        return NOTHING
