"""What functions of Python's library give, where that is one of their arguments or unknown."""

import builtins
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctx_indexer.graph.values import (
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

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver

NONE = "builtins.None"
_TYPING = ("typing.", "typing_extensions.")
_BUILTINS = frozenset(vars(builtins)) | {"__file__", "__path__", "__spec__", "unicode", "long"}
CAST, TYPE_OF, NEXT = "typing.cast", "builtins.type", "builtins.next"
ENUMERATE, ZIP = "builtins.enumerate", "builtins.zip"
# Functions whose result is their first argument, or holds what it holds.
_FIRST = frozenset(
    "builtins.list builtins.tuple builtins.set builtins.frozenset builtins.sorted builtins.iter"
    " builtins.reversed copy.copy copy.deepcopy functools.partial functools.update_wrapper".split()
)
# What may give anything that was put into it or that a program has.
_ANYTHING = re.compile(
    r"(builtins\.(getattr|next|max|min|list|tuple|set|frozenset|dict|sorted|reversed|iter|filter"
    r"|map|zip|enumerate|type|vars|sum)"
    r"|builtins(\.\w+\(\))*\.(get|pop|setdefault|values|items|copy|popitem|__getitem__)"
    r"|typing\.(cast|TypeVar)|importlib\.import_module|sys\.modules\.(get|__getitem__)|copy\.\w+|functools\.\w+|collections\.\w+|weakref\.\w+)"
    r"(\(\))?(\.\w+(\(\))?)*\Z"
)
_KNOWN = frozenset([DEFINITION, INSTANCE, LITERAL_VALUE])


class Library:
    """Resolves calls of functions that pass values on."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver

    def given(
        self, place: ScopeRef, functions: Values, arguments: Sequence[Expression]
    ) -> Values | None:
        """Return what a call gives by its arguments; None where they do not tell."""
        names = {value.name for value in functions if value.kind == EXTERNAL}
        if len(functions) != 1 or not names or not arguments:
            return None
        name, first = names.pop(), self._resolver.evaluate(place, arguments[0])
        if name == CAST and len(arguments) > 1:
            value = self._resolver.evaluate(place, arguments[1])
            cast = self._resolver.instances(first, OPEN)
            return _known(cast) or _known(value)
        if name == TYPE_OF:
            return frozenset(Value(DEFINITION, v.path, v.scope) for v in _instances(first)) or None
        if name == NEXT:
            return _known(self._resolver.containers.elements(first))
        return _known(first) if name in _FIRST else None

    def paired(self, place: ScopeRef, looped: Expression, key: str) -> Values | None:
        """Return a part of the pairs that a loop over `enumerate` or `zip` gives."""
        if not isinstance(looped, list) or looped[0] != CALL or not key.isdigit():
            return None
        names = {value.name for value in self._resolver.evaluate(place, looped[1])}
        number = int(key) if names == {ZIP} else int(key) - 1 if names == {ENUMERATE} else -1
        if not 0 <= number < len(looped) - 2:
            return None
        values = self._resolver.evaluate(place, looped[2 + number])
        return self._resolver.containers.elements(values)


def is_builtin(name: str) -> bool:
    """Whether Python has a name without an import."""
    return name in _BUILTINS


def is_open(name: str) -> bool:
    """Whether something external stands for a value that is set elsewhere, or for any type."""
    return name == NONE or name.startswith(_TYPING)


def is_member(name: str) -> bool:
    """Whether something external may be there: a type of the language is known to lack others."""
    owner, _, member = name.rpartition(".")
    type_ = getattr(builtins, owner.removeprefix(f"{BUILTINS}."), None)
    return not isinstance(type_, type) or hasattr(type_, member)


def gives_anything(name: str) -> bool:
    """Whether calling something external may give what the repository defines."""
    return _ANYTHING.match(name) is not None


def _known(values: Values) -> Values | None:
    known = frozenset(value for value in values if value.kind in _KNOWN)
    if not known:
        return None
    return known if known == values else union([known, UNRESOLVED_VALUES])


def _instances(values: Values) -> list[Value]:
    return [value for value in values if value.kind == INSTANCE]
