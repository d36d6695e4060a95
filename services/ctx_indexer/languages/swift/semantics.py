"""The rules of Swift: extensions add members to types, names of members need no receiver."""

from collections.abc import Mapping, Sequence

from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import Members, all_homes
from ctx_indexer.languages.semantics.names import MemberNames
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    LITERAL_VALUE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Values,
    external,
)
from ctx_indexer.languages.swift.calls import Labels, Requirements
from ctx_indexer.languages.swift.modules import Modules
from ctx_indexer.syntax.symbols.table import EXTENSION, FILE_SCOPE, Binding, first_names

_UNNAMED = "$"  # begins the parameters of a closure that have no names: `$0`


class MembersAndClosures(MemberNames):
    """`$0` is whatever a closure is called with; extended types from outside have more members."""

    def word(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        if name.startswith(_UNNAMED):
            return UNRESOLVED_VALUES
        return super().word(machine, file, place, name)

    def bound(self, machine: Machine, file: FileSymbols, number: int, name: str) -> list[Values]:
        """Leave out `if let cart = cart` where the scope binds the name elsewhere, too."""
        found = file.bindings.get((number, name), ())
        others = [each for each in found if not _is_unwrapped(each)]
        return [machine.binding(file.path, each) for each in others or found]

    def place_of(self, file: FileSymbols, binding: Binding) -> ScopeRef:
        """Look `cart` of `if let cart = cart.owner` up around the function that binds it."""
        number = binding.scope
        if binding.target in first_names(binding.value):
            number = max(file.scope(number).parent, FILE_SCOPE)
        return ScopeRef(file.path, number)

    def is_open(self, machine: Machine, file: FileSymbols, number: int) -> bool:
        if super().is_open(machine, file, number):
            return True
        is_block = file.scope(number).kind == EXTENSION
        return is_block and not machine.classes.classes_at(file, number)


def _is_unwrapped(binding: Binding) -> bool:
    return binding.target == binding.value


class Extensions(Members):
    """Blocks in any file add members to a type: `extension Cart { … }`."""

    def homes(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        return all_homes(machine, file, name)

    def dotted(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, values: Values, dotted: str
    ) -> Values:
        """Read properties of containers on the way: `carts.first.add` → `add` of a cart."""
        *names, last = dotted.split(".")[1:]
        for name in names:
            values = _read(machine, machine.attribute(values, name))
        return machine.attribute(values, last)

    def lacking(self, name: str, *, is_mapping: bool) -> Values:
        return external(f"{BUILTINS}.{'Dictionary' if is_mapping else 'Array'}.{name}")


def _read(machine: Machine, values: Values) -> Values:
    """Return the elements that a property of a container gives, and other values as they are."""
    given = frozenset(each for each in values if each.kind == LITERAL_VALUE and each.name)
    return machine.called(given) | (values - given)


SEMANTICS: Mapping[str, Semantics] = {
    "swift": Semantics(
        words=Words(
            instance=frozenset(["self"]),
            own_class=frozenset(["Self"]),
            parent=frozenset(["super"]),
            constructor="init",
            callable_members=frozenset(["callAsFunction"]),
        ),
        visible=Modules(),
        names=MembersAndClosures(),
        targets=Requirements(),
        members=Extensions(),
        overloads=Labels(),
    )
}
