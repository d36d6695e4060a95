"""Members of Go's types: an embedded type lends its members, a named type may be a container."""

from collections.abc import Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import MAX_ANCESTORS, Members, all_homes
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    INSTANCE,
    LACKING_VALUE,
    LITERAL_VALUE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import CLASS

MAX_NAMED = 4  # names from a type to its container: `type A B` and `type B []Gear` have two
_TYPES = (DEFINITION, INSTANCE)


class Embedded(Members):
    """A type has the members of the types that it embeds; the nearest wins."""

    def homes(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        return all_homes(machine, file, name)

    def line(self, machine: Machine, place: ScopeRef) -> list[ScopeRef]:
        """Return a type and the types that it embeds, level by level."""
        found: list[ScopeRef] = []
        pending = [place]
        for _ in range(MAX_ANCESTORS):
            if not pending:
                break
            current = pending.pop(0)
            if current in found:
                continue
            found.append(current)
            pending += machine.classes.parents(current)
        return found

    def absent(
        self, machine: Machine, value: Value, ancestors: Sequence[ScopeRef], name: str
    ) -> Values:
        """Return LACKING_VALUE: code that compiles calls no member that a type lacks.

        A type that embeds one from outside may have it there: then the value is unknown.
        """
        if machine.classes.has_foreign_ancestor(ancestors):
            return UNRESOLVED_VALUES
        return frozenset([LACKING_VALUE])

    def underlying(self, machine: Machine, file: FileSymbols, value: Value) -> Value:
        """Return the container that a type names: `type Gears []Gear` → `[]Gear`."""
        named, home = value, file
        for _ in range(MAX_NAMED):
            scope = home.scope(named.scope)
            if scope.kind != CLASS:
                return value
            written = scope.returns or (scope.bases[0] if len(scope.bases) == 1 else "")
            found = machine.evaluate(ScopeRef(named.path, scope.parent), written)
            if len(found) != 1:
                return value
            (named,) = found
            if named.kind == LITERAL_VALUE:
                return named
            other = machine.file(named.path) if named.kind in _TYPES else None
            if other is None or other.table.language != file.table.language:
                return value
            home = other
        return value
