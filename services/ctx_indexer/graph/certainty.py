"""How sure it is that a call runs what it resolves to."""

from enum import StrEnum

from ctx_indexer.graph.files import FileSymbols
from ctx_indexer.graph.python.library import is_member
from ctx_indexer.graph.python.properties import DECLARED_ONLY, ONE_OF, OVERRIDDEN
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.graph.values import (
    DEFINITION,
    EXTERNAL,
    LACKING_VALUE,
    LITERAL_VALUE,
    UNRESOLVED,
    ScopeRef,
    Values,
)
from ctx_indexer.languages.registry import LANGUAGES
from ctx_indexer.syntax.symbols.table import (
    ATTRIBUTE,
    DECLARATION,
    FUNCTION,
    Call,
    Expression,
    inside,
    last_name,
)

IMPLICIT = "run by a function of the language"
# Methods that `str(x)`, `len(x)` and the like run: no reader of the line sees their names.
BY_BUILTINS = frozenset(
    run for each in LANGUAGES.values() if each.symbols for run in each.symbols.runs.values()
) - {"__iter__", "__next__"}
ONE_KNOWN = "one of the values that the called name may have"


class Certainty(StrEnum):
    """Whether the code says who is called, or only the name agrees."""

    EXACT = "exact"
    POSSIBLE = "possible"


def certainty(
    resolver: Resolver, place: ScopeRef, call: Call, values: Values
) -> tuple[Certainty, str]:
    """Return how sure it is that a call runs each of the definitions that it resolves to."""
    if last_name(call.function) in BY_BUILTINS:
        return Certainty.POSSIBLE, IMPLICIT
    known = _bodies(resolver, values)
    if len(known) > 1:
        return Certainty.POSSIBLE, ONE_OF.format(len(known))
    if not known:
        return Certainty.EXACT, ""
    if not is_attribute(call.function) and any(value.kind == UNRESOLVED for value in values):
        return Certainty.POSSIBLE, ONE_KNOWN
    if _is_other(resolver.tables.file(place.path), values):
        return Certainty.POSSIBLE, ONE_KNOWN
    if any(resolver.classes.is_declared_only(v) for v in values if v.kind == DEFINITION):
        return Certainty.POSSIBLE, DECLARED_ONLY
    if resolver.calls.overriding(place, call) - values:
        return Certainty.POSSIBLE, OVERRIDDEN
    return Certainty.EXACT, ""


def _is_other(file: FileSymbols | None, values: Values) -> bool:
    """Whether a receiver may be of another type that the repository does not define."""
    if file is None:
        return False
    if file.rules.explicit_self:
        return any(value.kind == EXTERNAL and is_member(value.name) for value in values)
    if file.rules.twins:
        return any(value.kind in (EXTERNAL, LITERAL_VALUE) for value in values)
    if not file.rules.static:
        return False
    return any(value.kind in (EXTERNAL, UNRESOLVED) and value != LACKING_VALUE for value in values)


def _bodies(resolver: Resolver, values: Values) -> set[tuple[str, str, int]]:
    """Return what tells definitions apart: their names; themselves where a name has several."""
    named: set[tuple[str, str]] = set()
    bodies: set[tuple[str, str, int]] = set()
    for value in values:
        file = resolver.tables.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            continue
        if len(values) > 1 and file.is_allocator(value.scope):
            continue  # it runs beside a constructor
        scope = file.scope(value.scope)
        is_body = scope.kind == FUNCTION and DECLARATION not in scope.marks
        if file.rules.one_overload or (file.rules.objects and is_body):
            bodies.add((value.path, scope.path, value.scope))
        else:
            named.add((value.path, scope.path))
    declared = named - {each[:2] for each in bodies}
    return bodies | {(*each, 0) for each in declared}


def is_attribute(function: Expression) -> bool:
    """Whether what is called is a member of something."""
    function = inside(function)
    return "." in function if isinstance(function, str) else function[0] == ATTRIBUTE
