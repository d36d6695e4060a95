"""Variables of Go: they keep their declared types, and a package shares them."""

from collections.abc import Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.names import Names
from ctx_indexer.languages.semantics.receivers import Receivers
from ctx_indexer.languages.semantics.values import (
    EXTERNAL,
    LACKING_VALUE,
    UNRESOLVED,
    ScopeRef,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    CHANGED,
    CLASS,
    EITHER,
    FILE_SCOPE,
    LAMBDA,
    Binding,
)

# The operators of values that a variable of a function may have: `var run = func() {}`.
_FUNCTION_VALUES = frozenset([LAMBDA, EITHER, CHANGED])


class Declared(Names):
    """A name means its declaration; any file of a package may change a variable of it."""

    def bound(self, machine: Machine, file: FileSymbols, number: int, name: str) -> list[Values]:
        """Return the values of a name; `c` of `func (c *Cart) Add()` → an instance of `Cart`."""
        found = [machine.binding(file.path, each) for each in _seen(file, number, name)]
        if file.scope(number).receiver == name:
            classes = machine.classes.around(ScopeRef(file.path, number))
            found.append(machine.instances(classes))
        return found


class Static(Receivers):
    """A receiver is of its declared type; where that is not known, of any."""

    def is_other(self, values: Values) -> bool:
        kinds = (EXTERNAL, UNRESOLVED)
        return any(value.kind in kinds and value != LACKING_VALUE for value in values)


def _seen(file: FileSymbols, number: int, name: str) -> Sequence[Binding]:
    """Return the bindings of a plain name in a scope: members and shared variables are none."""
    found = file.bindings.get((number, name), ())
    if not found:
        return found
    if file.scope(number).kind == CLASS:
        return [each for each in found if each.how == ASSIGNED and not _is_definition(each)]
    is_open = number == FILE_SCOPE and (len(found) > 1 or not _is_definition(found[0]))
    return () if is_open and all(map(_may_change, found)) else found


def _may_change(binding: Binding) -> bool:
    """Whether other files of the package may change which function a variable holds."""
    value = binding.value
    return binding.how == ASSIGNED and (isinstance(value, str) or value[0] in _FUNCTION_VALUES)


def _is_definition(binding: Binding) -> bool:
    return isinstance(binding.value, list) and binding.value[0] == LAMBDA
