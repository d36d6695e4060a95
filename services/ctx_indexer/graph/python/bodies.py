"""The bodies of Python's classes: what `super` means there, and where their names are looked up."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctx_indexer.graph.values import DEFINITION, NOTHING, PARENT, ScopeRef, Value, Values
from ctx_indexer.syntax.symbols.table import CLASS, Binding, Expression, first_names

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver


def parents(resolver: "Resolver", place: ScopeRef, arguments: Sequence[Expression]) -> Values:
    """Return what `super` stands for: what comes after the class that it names, or around."""
    file = resolver.tables.file(place.path)
    receiver = file.receiver(place.scope) if file and file.rules.explicit_self else None
    if receiver is None:
        return NOTHING
    own = frozenset([Value(PARENT, place.path, receiver.scope)])
    named = resolver.evaluate(place, arguments[0]) if arguments else NOTHING
    after = frozenset(v._replace(kind=PARENT) for v in named if v.kind == DEFINITION)
    return after or own


def place_of(resolver: "Resolver", path: str, binding: Binding) -> ScopeRef:
    """Return where the value of a binding is looked up.

    `name = name` in a class gives it what the scope around has under that name.
    """
    place, file = ScopeRef(path, binding.scope), resolver.tables.file(path)
    if file is None or not file.rules.explicit_self:
        return place
    scope = file.scope(binding.scope)
    if scope.kind == CLASS and binding.target in first_names(binding.value):
        return ScopeRef(path, scope.parent)
    return place
