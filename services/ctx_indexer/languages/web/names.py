"""Names of JavaScript: `this`, declared types, and members of classes and objects."""

from collections.abc import Sequence

from ctx_indexer.languages.semantics.definitions import Bindings, Definitions
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import Members
from ctx_indexer.languages.semantics.names import Names
from ctx_indexer.languages.semantics.parameters import Parameters
from ctx_indexer.languages.semantics.values import (
    INSTANCE,
    LITERAL_VALUE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Values,
)
from ctx_indexer.languages.web.objects import member, of_definition, passed, this
from ctx_indexer.syntax.symbols.table import LAMBDA, TYPED, Binding, Expression


class This(Names):
    """`this` depends on the function around it: a method, a member of an object, a constructor."""

    def keep(self, file: Definitions, found: Bindings) -> None:
        for key, bindings in found.items():
            found[key] = _valued(bindings)

    def word(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        if name in file.words.instance:
            return this(machine, file, place)
        return super().word(machine, file, place, name)

    def bound(self, machine: Machine, file: FileSymbols, number: int, name: str) -> list[Values]:
        """Return the declared type of a name, which says more than the values assigned to it."""
        bindings = file.bindings.get((number, name), ())
        found = [machine.binding(file.path, each) for each in bindings]
        if len(bindings) < 2:
            return found
        typed = [each for each, b in zip(found, bindings, strict=True) if b.how == TYPED]
        known = (INSTANCE, LITERAL_VALUE)
        return [each for each in typed if any(v.kind in known for v in each)] or found


def _valued(bindings: list[Binding]) -> list[Binding]:
    """Leave out declared types of a name with a definition, and declarations without a type."""
    is_defined = any(isinstance(b.value, list) and b.value[0] == LAMBDA for b in bindings)
    kept = [b for b in bindings if b.how != TYPED or (b.value and not is_defined)]
    return kept or bindings


class ObjectMembers(Members):
    """Assignments give members to functions, classes and objects: `app.get = f`."""

    def dotted(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, values: Values, dotted: str
    ) -> Values:
        return member(machine, file, place, values, dotted)

    def bindings(
        self, file: FileSymbols, number: int, name: str, *, instance: bool
    ) -> Sequence[Binding]:
        """Leave out static methods for an instance, and the others for the class itself."""
        found = super().bindings(file, number, name, instance=instance)
        if len(found) < 2:
            return found
        return [each for each in found if _fits(file, each.value, instance)] or found

    def elsewhere(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> list[Values]:
        owned = super().elsewhere(machine, file, place, name)
        return owned + of_definition(machine, file, place, name)

    def homes(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        return (file,)

    def lacking(self, name: str, *, is_mapping: bool) -> Values:
        """Return anything for a member that an object is not written with: it may be assigned."""
        return UNRESOLVED_VALUES if is_mapping else super().lacking(name, is_mapping=is_mapping)


def _fits(file: FileSymbols, value: Expression, instance: bool) -> bool:
    if isinstance(value, str) or value[0] != LAMBDA:
        return True
    return file.of_class(value[1]) != instance


class Callbacks(Parameters):
    """A function that a method of a container takes gets its elements: `gears.map(g => …)`."""

    def values(self, machine: Machine, file: FileSymbols, number: int, position: int) -> Values:
        if not file.scope(number).parameters[position].type:
            known = passed(machine, file, number, position)
            if known is not None:
                return known
        return super().values(machine, file, number, position)
