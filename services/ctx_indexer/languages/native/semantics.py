"""The rules of C and C++: files include one another, declarations decide the types of variables."""

from collections.abc import Mapping, Sequence

from ctx_indexer.languages.native.names import Hiding, HidingMembers, Namespaces, Program
from ctx_indexer.languages.native.overloads import Closest
from ctx_indexer.languages.semantics.definitions import CONSTRUCTOR, Words
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import Members, all_homes
from ctx_indexer.languages.semantics.overloads import OneRuns
from ctx_indexer.languages.semantics.parameters import Parameters
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.languages.semantics.receivers import Receivers
from ctx_indexer.languages.semantics.results import Results
from ctx_indexer.languages.semantics.targets import Compiled
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    LITERAL_VALUE,
    NOTHING,
    OPEN,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import CLASS, Call, Expression, Scope

_FAMILY = frozenset(["c", "cpp"])
SUBSCRIPT = "operator[]"  # the method of a class that gives an item


class MaybeOutside(Receivers):
    """A receiver may be of a further type where a known one is from outside, or a container."""

    def is_other(self, values: Values) -> bool:
        return any(value.kind in (EXTERNAL, LITERAL_VALUE) for value in values)


class OwnConstructors(Compiled):
    """A class inherits no constructors: `new B()` never runs `A::A` of `class B : A`."""

    def constructors(self, machine: Machine, value: Value) -> Values:
        return machine.classes.own(ScopeRef(value.path, value.scope), CONSTRUCTOR)


class Declarations(Results):
    """A variable is of its declared type, whatever is assigned to it."""

    def declared(
        self, machine: Machine, place: ScopeRef, type_: Expression, value: Expression
    ) -> Values:
        named = machine.instances(machine.evaluate(place, type_), OPEN)
        if any(each.kind in (INSTANCE, LITERAL_VALUE) for each in named):
            return named
        return super().declared(machine, place, type_, value)

    def is_pointer(self, value: Value) -> bool:
        return value.kind == INSTANCE and value.name == OPEN


class Fields(Members):
    """A member may be looked up in a base by its name: `x.Base::run()`."""

    def absent(
        self, machine: Machine, value: Value, ancestors: Sequence[ScopeRef], name: str
    ) -> Values:
        named = _named(machine, ancestors, name)
        return named or super().absent(machine, value, ancestors, name)

    def item(self, machine: Machine, value: Value) -> Values:
        """Return an item of an array: `gears[0]` → a gear, unless the class has `operator[]`."""
        if value.kind == INSTANCE:
            getter = machine.classes.inherited(value, SUBSCRIPT)
            if not any(each.kind == DEFINITION for each in getter):
                return frozenset([value])
        return machine.called(machine.attribute(frozenset([value]), SUBSCRIPT))


class OpenFields(Fields):
    """Members of C++ may stand outside of their class: `void Cart::add() {}`."""

    def homes(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        return all_homes(machine, file, name)


def _named(machine: Machine, places: Sequence[ScopeRef], name: str) -> Values:
    """Return the class of a name among some: `Base` of `x.Base::run()`."""
    for place in places:
        file = machine.file(place.path)
        scope = file.scope(place.scope) if file is not None else None
        if scope is not None and scope.kind == CLASS and scope.name == name:
            return frozenset([Value(DEFINITION, *place)])
    return NOTHING


class ByTypes(OneRuns):
    """The types of arguments choose among the overloads of C++."""

    def fitting(self, machine: Machine, place: ScopeRef, call: Call, values: Values) -> Values:
        return Closest(machine).closest(place, call, values)


class Heads(Parameters):
    """The head of a method sees the names of its class: `Index` of `Item Cart::at(Index i)`."""

    def head(self, file: FileSymbols, number: int, written: Expression) -> ScopeRef:
        scope = file.scope(number)
        is_inside = scope.owner and not _is_parameter(scope, written)
        return ScopeRef(file.path, number if is_inside else scope.parent)


def _is_parameter(scope: Scope, written: Expression) -> bool:
    """Whether a type begins with the name of a parameter, which does not hide it in the head."""
    first = written.partition(".")[0] if isinstance(written, str) else ""
    return any(each.name == first for each in scope.parameters)


SEMANTICS: Mapping[str, Semantics] = {
    "c": Semantics(
        words=Words(constructor="-"),  # no function has this name: C has no constructors
        visible=Program(_FAMILY),
        names=Hiding(),
        receivers=MaybeOutside(),
        targets=OwnConstructors(),
        results=Declarations(),
        members=Fields(),
        overloads=OneRuns(),
        parameters=Heads(),
    ),
    "cpp": Semantics(
        words=Words(instance=frozenset(["this"])),
        visible=Namespaces(_FAMILY, nested=True),
        names=HidingMembers(),
        receivers=MaybeOutside(),
        targets=OwnConstructors(),
        results=Declarations(),
        members=OpenFields(),
        overloads=ByTypes(),
        parameters=Heads(),
    ),
}
