"""Items and elements of lists, tuples and dictionaries that are written out."""

import json
from typing import TYPE_CHECKING

from services.indexer.graph.values import (
    INSTANCE,
    LITERAL_VALUE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Values,
    union,
)
from services.indexer.syntax.symbols.table import (
    SEQUENCE,
    Expression,
)

if TYPE_CHECKING:
    from services.indexer.graph.resolver import Resolver


class Containers:
    """Resolves items of containers."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver

    def item(self, place: ScopeRef, owner: Expression, key: str) -> Values:
        """Return the item of a container by its key; all items where the key is not written out."""
        found = self._assigned_items(place, owner, key)
        for value in self._resolver.evaluate(place, owner):
            if value.kind != LITERAL_VALUE:
                found.append(
                    self._resolver.calls.called(
                        self._resolver.attribute(frozenset([value]), "__getitem__")
                    )
                )
                continue
            inner, literal = ScopeRef(value.path, value.scope), json.loads(value.expression)
            parts = literal[1:] if literal[0] == SEQUENCE else literal[2::2]
            keys = range(len(parts)) if literal[0] == SEQUENCE else literal[1::2]
            matching = [part for each, part in zip(keys, parts, strict=False) if str(each) == key]
            for part in matching if key else parts:
                found.append(self._resolver.evaluate(inner, part))
        return union(found) if found else UNRESOLVED_VALUES

    def _assigned_items(self, place: ScopeRef, owner: Expression, key: str) -> list[Values]:
        """Return what the file assigns to an item of a container of that name."""
        file = self._resolver.tables.file(place.path)
        if file is None or not isinstance(owner, str):
            return []
        return [
            self._resolver.evaluate(ScopeRef(place.path, binding.scope), binding.value)
            for binding in file.items.get(owner, ())
            if not key or binding.target[2] in ("", key)
        ]

    def elements(self, values: Values) -> Values:
        """Return what a loop over values gives."""
        found = []
        for value in values:
            if value.kind == LITERAL_VALUE:
                literal = json.loads(value.expression)
                place = ScopeRef(value.path, value.scope)
                if literal[0] == SEQUENCE:
                    found += [self._resolver.evaluate(place, each) for each in literal[1:]]
            elif value.kind == INSTANCE:
                found.append(
                    self._resolver.calls.called(self._resolver.classes.inherited(value, "__next__"))
                )
            else:
                found.append(frozenset([value]))
        return union(found) if found else UNRESOLVED_VALUES
