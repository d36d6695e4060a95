"""The relations of a definition: its callees, its subclasses, the methods that replace it."""

from collections.abc import Iterator
from dataclasses import dataclass

from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.definitions import CONSTRUCTOR
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    FILE,
    NOTHING,
    UNRESOLVED,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import CLASS, EXTENSION, last_name

MAX_SUBCLASSES = 500  # direct and indirect subclasses of one class that are looked through


@dataclass(frozen=True)
class Related:
    """A definition that is related to another, with the line where it begins."""

    value: Value
    symbol: str
    path: str
    line: int


class Relations:
    """Finds the relations of one definition, among the loaded tables."""

    def __init__(self, resolver: Resolver, target: Value) -> None:
        self._resolver = resolver
        self._tables = resolver.tables
        self._target = target
        self.unresolved: list[str] = []

    def callees(self) -> list[Related]:
        """Return the definitions that the code of the target calls, in the order of the calls.

        Afterwards `unresolved` has the names of calls that resolve to nothing known.
        """
        home = self._tables.file(self._target.path)
        if home is None:
            return []
        resolver = self._resolver
        found: dict[Value, Related] = {}
        unknown: set[str] = set()
        inner = _inside(home, self._target.scope)
        for call in home.table.calls:
            if call.scope not in inner:
                continue
            resolver.start()
            values = resolver.calls.targets(ScopeRef(home.path, call.scope), call)
            known = [value for value in values if value.kind == DEFINITION]
            for value in sorted(known):  # the same in every process
                if related := self._related(value):
                    found.setdefault(value, related)
            if not known and any(value.kind == UNRESOLVED for value in values):
                unknown.add(last_name(call.function))
        self.unresolved = sorted(unknown - {""})
        return list(found.values())

    def imported(self) -> list[str]:
        """Return the files that the imports of the target's file lead to, in their order."""
        home = self._tables.file(self._target.path)
        found: dict[str, None] = {}
        for each in home.table.imports if home else ():
            self._resolver.start()
            for value in self._resolver.imported(self._target.path, each):
                if value.kind in (DEFINITION, FILE):
                    found.setdefault(value.path)
        return list(found)

    def subclasses(self) -> list[Related]:
        """Return the classes that name the target as their base."""
        home = self._tables.file(self._target.path)
        if home is None or home.scope(self._target.scope).kind != CLASS:
            return []
        return list(self._below(ScopeRef(self._target.path, self._target.scope)))

    def overrides(self) -> list[Related]:
        """Return the methods of subclasses that have the name of the target."""
        home = self._tables.file(self._target.path)
        if home is None:
            return []
        scope = home.scope(self._target.scope)
        resolver = self._resolver
        name = CONSTRUCTOR if home.is_constructor(self._target.scope) else scope.name
        owners = resolver.classes.around(ScopeRef(home.path, self._target.scope))
        if name == CONSTRUCTOR or not owners:
            return []
        found: dict[Value, Related] = {}
        pending = [ScopeRef(value.path, value.scope) for value in owners]
        seen = set(pending)
        while pending and len(seen) < MAX_SUBCLASSES:
            for each in self._below(pending.pop(0)):
                place = ScopeRef(each.value.path, each.value.scope)
                if place in seen:
                    continue
                seen.add(place)
                pending.append(place)
                for value in resolver.classes.own(place, name):
                    if value != self._target and (related := self._related(value)):
                        found[value] = related
        return sorted(found.values(), key=lambda each: (each.path, each.line))

    def _below(self, place: ScopeRef) -> Iterator[Related]:
        """Yield the classes that inherit directly from one."""
        home = self._tables.file(place.path)
        if home is None:
            return
        name = home.scope(place.scope).name
        resolver = self._resolver
        for file in sorted(self._tables.callers(name), key=lambda each: each.path):
            for number in file.inheriting(name):
                resolver.start()
                if place not in resolver.classes.bases(ScopeRef(file.path, number)):
                    continue
                for value in resolver.classes.classes_at(file, number) or _block(file, number):
                    is_other = (value.path, value.scope) != tuple(place)
                    if is_other and (related := self._related(value)):
                        yield related

    def _related(self, value: Value) -> Related | None:
        file = self._tables.file(value.path)
        if file is None:
            return None
        scope = file.scope(value.scope)
        symbol = scope.path or f"impl {last_name(scope.bases[0] if scope.bases else '')}"
        return Related(value, symbol, value.path, scope.start)


def _block(file: FileSymbols, number: int) -> Values:
    """Return a block in place of the type from outside that it extends: `impl Price for Vec`."""
    is_block = file.scope(number).kind == EXTENSION
    return frozenset([Value(DEFINITION, file.path, number)]) if is_block else NOTHING


def _inside(file: FileSymbols, number: int) -> set[int]:
    """Return the numbers of a scope and of all scopes inside it."""
    inner = {number}
    for each, scope in enumerate(file.table.scopes):
        if scope.parent in inner:
            inner.add(each)
    return inner
