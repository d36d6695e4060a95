"""Question 8: which values may a parameter have?"""

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import ScopeRef, Values
from ctx_indexer.syntax.symbols.table import Expression


class Parameters:
    """By default a parameter is of its declared type, else one of the arguments of callers."""

    def values(self, machine: Machine, file: FileSymbols, number: int, position: int) -> Values:
        """Return the values of a parameter: `def f(c: C)` → an instance of `C`."""
        parameter = file.scope(number).parameters[position]
        if parameter.type:
            return machine.typed(file, number, parameter.type)
        return machine.passed(file, number, position)

    def head(self, file: FileSymbols, number: int, written: Expression) -> ScopeRef:
        """Return the scope in which a type of a function's head is looked up."""
        return ScopeRef(file.path, file.scope(number).parent)
