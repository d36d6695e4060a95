"""The results of functions of Python's library that pass on an argument."""

import builtins
from collections.abc import Sequence

from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    LITERAL_VALUE,
    OPEN,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    union,
)
from ctx_indexer.syntax.symbols.table import CALL, Expression

_BUILTINS = frozenset(vars(builtins)) | {"__file__", "__path__", "__spec__", "unicode", "long"}
CAST, TYPE_OF, NEXT = "typing.cast", "builtins.type", "builtins.next"
ENUMERATE, ZIP = "builtins.enumerate", "builtins.zip"
# Functions that give their first argument, or a container of its elements: `sorted(carts)`.
_FIRST = frozenset(
    "builtins.list builtins.tuple builtins.set builtins.frozenset builtins.sorted builtins.iter"
    " builtins.reversed copy.copy copy.deepcopy functools.partial functools.update_wrapper".split()
)
_KNOWN = frozenset([DEFINITION, INSTANCE, LITERAL_VALUE])


def given(
    machine: Machine, place: ScopeRef, functions: Values, arguments: Sequence[Expression]
) -> Values | None:
    """Return the result of a library function by its arguments: `list(x)` → `x`; else None."""
    names = {value.name for value in functions if value.kind == EXTERNAL}
    if len(functions) != 1 or not names or not arguments:
        return None
    name, first = names.pop(), machine.evaluate(place, arguments[0])
    if name == CAST and len(arguments) > 1:
        value = machine.evaluate(place, arguments[1])
        cast = machine.instances(first, OPEN)
        return _known(cast) or _known(value)
    if name == TYPE_OF:
        return frozenset(Value(DEFINITION, v.path, v.scope) for v in _instances(first)) or None
    if name == NEXT:
        return _known(machine.elements(first))
    return _known(first) if name in _FIRST else None


def paired(machine: Machine, place: ScopeRef, looped: Expression, key: str) -> Values | None:
    """Return a part of the pairs that a loop gives: of `enumerate(xs)` part 1 is an `x`."""
    if not isinstance(looped, list) or looped[0] != CALL or not key.isdigit():
        return None
    names = {value.name for value in machine.evaluate(place, looped[1])}
    number = int(key) if names == {ZIP} else int(key) - 1 if names == {ENUMERATE} else -1
    if not 0 <= number < len(looped) - 2:
        return None
    return machine.elements(machine.evaluate(place, looped[2 + number]))


def is_builtin(name: str) -> bool:
    """Whether Python has a name without an import."""
    return name in _BUILTINS


def is_member(name: str) -> bool:
    """Whether an external name may exist: `builtins.str.upper`, and not `builtins.str.add`."""
    owner, _, member = name.rpartition(".")
    type_ = getattr(builtins, owner.removeprefix(f"{BUILTINS}."), None)
    return not isinstance(type_, type) or hasattr(type_, member)


def _known(values: Values) -> Values | None:
    known = frozenset(value for value in values if value.kind in _KNOWN)
    if not known:
        return None
    return known if known == values else union([known, UNRESOLVED_VALUES])


def _instances(values: Values) -> list[Value]:
    return [value for value in values if value.kind == INSTANCE]
