"""Classes that inherit from a class."""

from collections.abc import Iterator
from typing import NamedTuple

from services.indexer.graph.resolver import Resolver, Tables
from services.indexer.graph.values import ScopeRef, Value
from services.indexer.syntax.symbols.table import CLASS

MAX_SUBCLASSES = 500


class Subclass(NamedTuple):
    """A class below another, `depth` steps away."""

    path: str
    line: int
    symbol: str
    depth: int


def subclasses(tables: Tables, target: Value) -> Iterator[Subclass]:
    """Yield the classes below a class, the direct ones first, among the loaded tables."""
    pending = [(ScopeRef(target.path, target.scope), 0)]
    seen = {pending[0][0]}
    while pending and len(seen) <= MAX_SUBCLASSES:
        parent, depth = pending.pop(0)
        for place in _direct(tables, parent):
            if place in seen:
                continue
            seen.add(place)
            pending.append((place, depth + 1))
            file = tables.file(place.path)
            if file is not None:
                scope = file.scope(place.scope)
                yield Subclass(place.path, scope.start, scope.path, depth + 1)


def _direct(tables: Tables, parent: ScopeRef) -> Iterator[ScopeRef]:
    home = tables.file(parent.path)
    if home is None:
        return
    name = home.scope(parent.scope).name
    files = {file.path: file for file in [home, *tables.callers(name)]}
    for path in sorted(files):
        resolver = Resolver(tables)
        for number, scope in enumerate(files[path].table.scopes):
            place = ScopeRef(path, number)
            if scope.kind == CLASS and scope.bases and parent in resolver.classes.parents(place):
                yield place
