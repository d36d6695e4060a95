"""The rules of Kotlin: extensions add members to classes, companions lend them theirs."""

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import OpenClasses
from ctx_indexer.languages.semantics.values import ScopeRef, Values

COMPANION = "Companion"  # the name of an unnamed `companion object`, whose members a class lends


class Companions(OpenClasses):
    """A class has the members of its companion: `Cart.of()` → `Cart.Companion.of`."""

    def lent(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        if name == COMPANION:
            return None
        for binding in file.bindings.get((place.scope, COMPANION), ()):
            number = binding.value[1]
            if isinstance(number, int):
                companion = ScopeRef(place.path, number)
                return machine.classes.own_attribute(companion, name, instance=True)
        return None
