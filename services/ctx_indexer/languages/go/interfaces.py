"""Interfaces of Go: a type with all of their methods implements them, and says so nowhere."""

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.targets import Targets
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    INSTANCE,
    NOTHING,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import CLASS, DECLARATION

IMPLEMENTS = "calls the method of an interface that it implements"


class Promised(Targets):
    """A call of an interface's method may run the method of a type that implements it."""

    replaced = IMPLEMENTS

    def above(self, machine: Machine, owner: Value, name: str) -> Values:
        return super().above(machine, owner, name) | promised(machine, owner, name)


def promised(machine: Machine, owner: Value, name: str) -> Values:
    """Return the methods of interfaces through which a method of a type may be called.

    `func (c *Cart) Price()` → `Price` of `type Priced interface { Price() int }`.
    """
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
    """Whether a type has all methods of an interface, as far as the repository declares them."""
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
