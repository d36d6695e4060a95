"""Question 7: which of several definitions fits a call?"""

from collections.abc import Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import DEFINITION, NOTHING, ScopeRef, Value, Values
from ctx_indexer.syntax.symbols.table import Call

MAX_COMPARED = 100  # overloads of one name; of more, a call may run any


class Overloads:
    """By default definitions of one name in one class are one: the last or any of them runs."""

    def fitting(self, machine: Machine, place: ScopeRef, call: Call, values: Values) -> Values:
        """Leave out the functions that the arguments of a call do not fit."""
        return values

    def one_of(self, machine: Machine, values: Values, sure: Sequence[Value]) -> Values:
        """Return one overload in place of all that a call resolves to, where it runs one of them.

        `values` are all of them, `sure` the definitions that the question is about. By default the
        result is empty: each stands for itself.
        """
        return NOTHING

    def body(self, file: FileSymbols, number: int) -> int:
        """Return a number that tells overloads of one name apart; 0 where all count as one."""
        return 0


class OneRuns(Overloads):
    """A compiler chooses one of the overloads: `f(1)` runs `f(int)` and not `f(String)`."""

    def one_of(self, machine: Machine, values: Values, sure: Sequence[Value]) -> Values:
        known = [value for value in values if value.kind == DEFINITION]
        paths = {
            (value.path, file.scope(value.scope).path)
            for value in known
            if (file := machine.file(value.path))
        }
        is_asked = set(known) <= set(sure) or not values.issuperset(sure)
        return frozenset([min(known)]) if len(paths) == 1 and is_asked else NOTHING

    def body(self, file: FileSymbols, number: int) -> int:
        return number
