"""Question 2: how is a word or a name read in a scope?"""

from ctx_indexer.languages.semantics.definitions import Bindings, Definitions
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    INSTANCE,
    PACKAGE,
    PARENT,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import CLASS, NAMESPACE, Binding


class Names:
    """By default a name means each value that its scope binds it to."""

    def keep(self, file: Definitions, found: Bindings) -> None:
        """Leave out the bindings that give a name no value: declared overloads of Python."""

    def word(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        """Return the value of a word of the language; None for any other name.

        `this` → an instance of the class around, `Self` → that class, `super` → its parent.
        """
        words = file.words
        if name in words.instance or name in words.own_class or name in words.parent:
            classes = machine.classes.around(place)
            if classes:
                kinds = {DEFINITION: name in words.own_class, PARENT: name in words.parent}
                kind = next((kind for kind, holds in kinds.items() if holds), INSTANCE)
                return frozenset(value._replace(kind=kind) for value in classes)
        return None

    def unqualified(
        self, machine: Machine, file: FileSymbols, number: int, name: str
    ) -> Values | None:
        """Return a member of the class around a scope, in languages that need no receiver."""
        return None

    def is_open(self, machine: Machine, file: FileSymbols, number: int) -> bool:
        """Whether the class around a scope may have members that the repository does not show."""
        return False

    def bound(self, machine: Machine, file: FileSymbols, number: int, name: str) -> list[Values]:
        """Return the values of each binding of a name in a scope."""
        found = file.bindings.get((number, name), ())
        return [machine.binding(file.path, each) for each in found]

    def place_of(self, file: FileSymbols, binding: Binding) -> ScopeRef:
        """Return the scope in which the value of a binding is looked up: mostly its own."""
        return ScopeRef(file.path, binding.scope)

    def package(self, file: FileSymbols, number: int) -> Value | None:
        """Return the package that a definition stands for; None where it is none."""
        return None

    def may_mean(self, *, is_member: bool, by_receiver: bool) -> bool:
        """Whether an unresolved call may mean a member, or another function, by its writing.

        `run()` means no member here, `x.run()` may mean either.
        """
        return by_receiver or not is_member


class MemberNames(Names):
    """Methods name the members of their class without a receiver: `run()` → `this.run()`."""

    def unqualified(
        self, machine: Machine, file: FileSymbols, number: int, name: str
    ) -> Values | None:
        if not is_of_class(file, number):
            return None
        return machine.classes.implicit(file, number, name)

    def is_open(self, machine: Machine, file: FileSymbols, number: int) -> bool:
        return is_of_class(file, number) and machine.classes.is_foreign(file, number)

    def may_mean(self, *, is_member: bool, by_receiver: bool) -> bool:
        return True


def is_of_class(file: FileSymbols, number: int) -> bool:
    """Whether a scope is a class, or a function that belongs to one from outside."""
    scope = file.scope(number)
    return scope.kind == CLASS or bool(scope.owner)


def namespace(file: FileSymbols, number: int) -> Value | None:
    """Return the package of a namespace: `namespace shop { … }` → package `shop`."""
    if file.scope(number).kind != NAMESPACE:
        return None
    return Value(PACKAGE, file.path, name=file.package_of(number))
