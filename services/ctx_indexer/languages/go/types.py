"""Types of Go: embedded ones lend their methods, interfaces are implemented without a word."""

from collections.abc import Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import MAX_ANCESTORS, Members, all_homes
from ctx_indexer.languages.semantics.targets import Targets
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    INSTANCE,
    LACKING_VALUE,
    LITERAL_VALUE,
    NOTHING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import CLASS, DECLARATION

MAX_NAMED = 4  # types that are named after one another
_TYPES = (DEFINITION, INSTANCE)
IMPLEMENTS = "calls the method of an interface that it implements"


class Embedded(Members):
    """A type has the members of the types that it embeds; the nearest wins."""

    def homes(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        return all_homes(machine, file, name)

    def line(self, machine: Machine, place: ScopeRef) -> list[ScopeRef]:
        """Return a type and those it embeds, level by level."""
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
        """Return that a type lacks a member: a compiler would refuse a call of it."""
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


class Promised(Targets):
    """A method may run where one of an interface is called that its type implements."""

    replaced = IMPLEMENTS

    def above(self, machine: Machine, owner: Value, name: str) -> Values:
        return super().above(machine, owner, name) | promised(machine, owner, name)


def promised(machine: Machine, owner: Value, name: str) -> Values:
    """Return the methods of interfaces that a method of a type is called through."""
    file = machine.file(owner.path)
    if file is None:
        return NOTHING
    return frozenset(
        Value(DEFINITION, other.path, number)
        for other in machine.definers(name)
        if other.table.language == file.table.language
        for number in _promises(other, name)
        if _has_all(machine, owner, ScopeRef(other.path, other.scope(number).parent))
    )


def _promises(file: FileSymbols, name: str) -> list[int]:
    """Return the methods of a name that interfaces of a file declare."""
    return [
        number
        for number, scope in enumerate(file.table.scopes)
        if scope.name == name
        and DECLARATION in scope.marks
        and file.scope(scope.parent).kind == CLASS
    ]


def _has_all(machine: Machine, owner: Value, interface: ScopeRef) -> bool:
    """Whether a type has all methods of an interface; of foreign ones it may have them."""
    instance = Value(INSTANCE, owner.path, owner.scope)
    for place in machine.classes.ancestors(interface):
        file = machine.file(place.path)
        for number, scope in enumerate(file.table.scopes if file else ()):
            if scope.parent != place.scope or DECLARATION not in scope.marks or not number:
                continue
            found = machine.classes.inherited(instance, scope.name)
            if not any(value.kind == DEFINITION for value in found):
                return False
    return True
