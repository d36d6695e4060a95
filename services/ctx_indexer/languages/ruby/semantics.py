"""The rules of Ruby: a name without arguments may be a call, and classes are open."""

from collections.abc import Mapping

from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import OpenClasses
from ctx_indexer.languages.semantics.names import MemberNames
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.languages.semantics.targets import Targets
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    PACKAGE,
    ScopeRef,
    Value,
    Values,
    union,
)
from ctx_indexer.languages.semantics.visible import Visible
from ctx_indexer.syntax.symbols.table import FUNCTION, MODULE


class Mixins(Visible):
    """A name that nothing defines may come from a mixin."""

    def is_brought(self, values: Values, name: str) -> bool:
        unbound = f"{BUILTINS}.{name}"
        return any(value.kind == PACKAGE or value.name == unbound for value in values)


class Sends(OpenClasses):
    """The name of a method calls it: `cart.owner.name` → the `name` of the result of `owner`."""

    def dotted(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, values: Values, dotted: str
    ) -> Values:
        for name in dotted.split(".")[1:]:
            values = machine.attribute(_ran(machine, values), name)
        return values


def _ran(machine: Machine, values: Values) -> Values:
    """Return the results of methods, and other values as they are."""
    return union(
        machine.called(frozenset([value])) if _is_method(machine, value) else frozenset([value])
        for value in values
    )


def _is_method(machine: Machine, value: Value) -> bool:
    file = machine.file(value.path) if value.kind == DEFINITION else None
    if file is None:
        return False
    scope = file.scope(value.scope)
    in_class = file.scope(scope.parent).kind not in (FUNCTION, MODULE)
    return scope.kind == FUNCTION and in_class


class Supers(Targets):
    """`super` without a name calls the method that the one around replaces."""

    def parent_words(self, file: FileSymbols) -> frozenset[str]:
        return file.words.parent


SEMANTICS: Mapping[str, Semantics] = {
    "ruby": Semantics(
        words=Words(
            instance=frozenset(["self"]),
            parent=frozenset(["super"]),
            constructor="initialize",
            callable_members=frozenset(["call"]),
        ),
        visible=Mixins(),
        names=MemberNames(),
        targets=Supers(),
        members=Sends(),
    )
}
