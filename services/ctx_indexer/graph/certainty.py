"""How sure a call runs the definitions that it resolves to."""

from enum import StrEnum

from ctx_indexer.graph.accessors import DECLARED_ONLY, ONE_OF, OVERRIDDEN
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    UNRESOLVED,
    ScopeRef,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    ATTRIBUTE,
    Call,
    Expression,
    inside,
    last_name,
)

IMPLICIT = "run by a function of the language"
ONE_KNOWN = "one of the values that the called name may have"


class Certainty(StrEnum):
    """Whether the code says who is called, or only the name agrees."""

    EXACT = "exact"
    POSSIBLE = "possible"


def certainty(
    resolver: Resolver, place: ScopeRef, call: Call, values: Values
) -> tuple[Certainty, str]:
    """Return whether a call surely runs the definitions that it resolves to; if not, why.

    `cart.add()` with a `Cart` → EXACT; with a `Cart` or a `Box` → POSSIBLE, "one of 2 …".
    """
    semantics = semantics_of(resolver.file(place.path))
    if semantics.targets.is_implicit(last_name(call.function)):
        return Certainty.POSSIBLE, IMPLICIT
    known = _bodies(resolver, values)
    if len(known) > 1:
        return Certainty.POSSIBLE, ONE_OF.format(len(known))
    if not known:
        return Certainty.EXACT, ""
    if not is_attribute(call.function) and any(value.kind == UNRESOLVED for value in values):
        return Certainty.POSSIBLE, ONE_KNOWN
    if semantics.receivers.is_other(values):
        return Certainty.POSSIBLE, ONE_KNOWN
    if any(resolver.classes.is_declared_only(v) for v in values if v.kind == DEFINITION):
        return Certainty.POSSIBLE, DECLARED_ONLY
    if resolver.calls.overriding(place, call) - values:
        return Certainty.POSSIBLE, OVERRIDDEN
    return Certainty.EXACT, ""


def _bodies(resolver: Resolver, values: Values) -> set[tuple[str, str, int]]:
    """Return a key of each definition: its name, and a number where a name has several bodies."""
    named: set[tuple[str, str]] = set()
    bodies: set[tuple[str, str, int]] = set()
    for value in values:
        file = resolver.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            continue
        if len(values) > 1 and file.is_allocator(value.scope):
            continue  # an allocator runs beside a constructor, not in place of it
        scope = file.scope(value.scope)
        if number := semantics_of(file).overloads.body(file, value.scope):
            bodies.add((value.path, scope.path, number))
        else:
            named.add((value.path, scope.path))
    declared = named - {each[:2] for each in bodies}
    return bodies | {(*each, 0) for each in declared}


def is_attribute(function: Expression) -> bool:
    """Whether a call names a member of something: `cart.add()`, and not `add()`."""
    function = inside(function)
    return "." in function if isinstance(function, str) else function[0] == ATTRIBUTE
