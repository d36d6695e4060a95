"""What declarations of C and C++ say: their types decide which functions run."""

from typing import TYPE_CHECKING

from ctx_indexer.graph.values import (
    INSTANCE,
    LITERAL_VALUE,
    NOTHING,
    OPEN,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import Binding, Expression

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver


class Declarations:
    """Resolves declared names of C and C++; those of other languages are left as they are."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver

    def typed(self, place: ScopeRef, type_: Expression) -> Values:
        """Return instances of a declared type, whatever is assigned; nothing if it is unknown."""
        if not self._is_compiled(place.path):
            return NOTHING
        named = self._resolver.instances(self._resolver.evaluate(place, type_), OPEN)
        is_known = any(each.kind in (INSTANCE, LITERAL_VALUE) for each in named)
        return named if is_known else NOTHING

    def is_pointer(self, value: Value) -> bool:
        """Whether a named instance is not constructed where its name is, but pointed to."""
        is_open = value.kind == INSTANCE and value.name == OPEN
        return is_open and self._is_compiled(value.path)

    def outside(self, place: ScopeRef, binding: Binding) -> ScopeRef:
        """Return where a type is looked up: around a variable that hides it, as `log::Log log`."""
        file = self._resolver.tables.file(place.path)
        if file is None or not file.rules.twins or not isinstance(binding.value, str):
            return place
        is_hidden = binding.value.partition(".")[0] == binding.target and place.scope > 0
        return ScopeRef(place.path, file.scope(place.scope).parent) if is_hidden else place

    def _is_compiled(self, path: str) -> bool:
        file = self._resolver.tables.file(path)
        return file is not None and file.rules.twins
