"""Question 6: which member of a type or value does a name mean?"""

from collections.abc import Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    PARENT,
    PASSING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.table import CLASS, EXTENSION, FUNCTION, Binding, Expression

MAX_ANCESTORS = 64
GETTER = "__getitem__"  # under this name a class may define an item of its instances


class Members:
    """By default a class has the members written in it, then those of its ancestors in order."""

    def dotted(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, values: Values, dotted: str
    ) -> Values:
        """Return the values of a dotted name; `values` are the values of its first part."""
        for name in dotted.split(".")[1:]:
            values = machine.attribute(values, name)
        return values

    def of_value(self, machine: Machine, file: FileSymbols, value: Value, name: str) -> Values:
        """Return a member of a definition or instance, which a file defines."""
        is_function = file.scope(value.scope).kind == FUNCTION
        if is_function and value.kind == DEFINITION and name in file.words.callable_members:
            return frozenset([value])
        found = machine.classes.inherited(value, name)
        if found == UNRESOLVED_VALUES and name in file.words.passing:
            return frozenset([value._replace(kind=PASSING)])
        return found

    # Members of a class itself

    def bindings(
        self, file: FileSymbols, number: int, name: str, *, instance: bool
    ) -> Sequence[Binding]:
        """Return the members that the body of a class, or a block that extends it, names so."""
        if file.scope(number).kind == FUNCTION:
            return ()  # its names are variables
        return file.bindings.get((number, name), ())

    def is_declared(self, *, found: bool, typed: bool) -> bool:
        """Whether the assignments to a member may be left out, because it is declared.

        `typed` tells that a declaration gives an instance, as `Gear gear;` does.
        """
        return typed

    def elsewhere(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> list[Values]:
        """Return the members of a class that stand outside of it: `void Cart::add() {}`."""
        scope = file.scope(place.scope)
        homes = self.homes(machine, file, scope.name)
        return machine.classes.owned(homes, place, name) if homes else []

    def lent(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        """Return a member that a class has through another of its own: a companion of Kotlin."""
        return None

    def homes(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        """Return the files that may add members to a class; none where its body has them all."""
        return ()

    def extends(
        self,
        machine: Machine,
        file: FileSymbols,
        place: ScopeRef,
        other: FileSymbols,
        number: int,
    ) -> bool:
        """Whether a block of the name of a class adds members to it: `impl Cart { … }`."""
        block = other.scope(number)
        if block.kind != EXTENSION:
            return False
        outer = ScopeRef(other.path, block.parent)
        return Value(DEFINITION, *place) in machine.evaluate(outer, block.owner)

    # Ancestors

    def line(self, machine: Machine, place: ScopeRef) -> list[ScopeRef]:
        """Return a class and its ancestors; a shared one comes after all that inherit from it."""
        found: list[ScopeRef] = []
        pending = [place]
        for _ in range(MAX_ANCESTORS):
            if not pending:
                break
            current = pending.pop(0)
            if current in found:
                found.remove(current)
            found.append(current)
            pending = [*machine.classes.parents(current), *pending]
        return found

    def absent(
        self, machine: Machine, value: Value, ancestors: Sequence[ScopeRef], name: str
    ) -> Values:
        """Return a member that neither a class nor its ancestors have: that of its subclasses.

        `self.render()` in a base class → `render` of each class below it.
        """
        if machine.classes.has_foreign_ancestor(ancestors):
            return UNRESOLVED_VALUES
        below = [] if value.kind == PARENT else machine.classes.in_subclasses(value, name)
        return union(below) if below else UNRESOLVED_VALUES

    # Items and values that are written out

    def item(self, machine: Machine, value: Value) -> Values:
        """Return an item of a value: `x[0]` → the result of `x.__getitem__`."""
        return machine.called(machine.attribute(frozenset([value]), GETTER))

    def paired(
        self, machine: Machine, place: ScopeRef, looped: Expression, key: str
    ) -> Values | None:
        """Return a part of the pairs in a loop over a function of the library; else None.

        `for i, x in enumerate(xs)`: part 1 is an element of `xs`.
        """
        return None

    def added(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, owner: str
    ) -> list[Values]:
        """Return the values that calls add to a container: `queue.append(task)` → `task`."""
        return []

    def underlying(self, machine: Machine, file: FileSymbols, value: Value) -> Value:
        """Return the container that a named type is: `type Gears []Gear` → `[]Gear`; else value."""
        return value

    def lacking(self, name: str, *, is_mapping: bool) -> Values:
        """Return a member of `[1, 2]` or `{a: 1}` that is none of its items: the library's."""
        return external(f"{BUILTINS}.{name}")


def all_homes(machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
    """Return a file, and every file that adds members to a class of a name."""
    return [file, *(other for other in machine.definers(name) if other.path != file.path)]


class OpenClasses(Members):
    """A class may be written in several parts: `partial class Cart` in two files of C#."""

    def homes(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        return all_homes(machine, file, name)

    def extends(
        self,
        machine: Machine,
        file: FileSymbols,
        place: ScopeRef,
        other: FileSymbols,
        number: int,
    ) -> bool:
        scope, block = file.scope(place.scope), other.scope(number)
        if block.kind != CLASS:
            return super().extends(machine, file, place, other, number)
        same = other.package_of(number) == file.package_of(place.scope)
        return same and block.path == scope.path
