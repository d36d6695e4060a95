"""Question 4: which functions may a call run?"""

from collections.abc import Iterator
from enum import Enum

from ctx_indexer.languages.semantics.definitions import CONSTRUCTOR
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    ScopeRef,
    Value,
    Values,
    union,
)
from ctx_indexer.syntax.symbols.table import CLASS, GETTER, NEW, Call

OVERRIDES = "calls the method that it overrides"


class Use(Enum):
    """The use of an attribute that runs a function: `cart.total` runs a property `total`."""

    READ = "read"
    ASSIGNED = "assigned"
    ANY_ASSIGNED = "any assigned"  # an assignment to any attribute runs it


class Targets:
    """By default a call runs the function that its name stands for, or a constructor."""

    replaced = OVERRIDES  # the reason why a call of a replaced method may run its replacement

    def of_call(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        """Return the functions that a call runs: `Cart()` → `Cart.__init__`."""
        found = machine.run(place, call, self.meant(machine, place, call))
        return machine.fitting(place, call, found)

    def meant(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        """Return the values that the called expression stands for."""
        return machine.evaluate(place, call.function)

    def named(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        """Return the values that a call names beside its targets: the class that it constructs."""
        return machine.evaluate(place, call.function)

    def constructors(self, machine: Machine, value: Value) -> Values:
        """Return the constructors of a class, also inherited ones: `B()` → `A.__init__`."""
        return machine.classes.inherited(value, CONSTRUCTOR)

    # Methods that replace others

    def replacing(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        """Return the methods of subclasses that a call may run instead of its target."""
        return machine.below(place, call)

    def replaced_by(self, machine: Machine, file: FileSymbols, target: Value) -> Values:
        """Return the methods of bases that a method replaces: `B.run` of `B(A)` → `A.run`."""
        found: set[Value] = set()
        name = file.scope(target.scope).name
        for value in machine.classes.around(ScopeRef(target.path, target.scope)):
            found |= self.above(machine, value, name)
        return frozenset(found)

    def above(self, machine: Machine, owner: Value, name: str) -> Values:
        """Return the methods of a name that the ancestors of a class have."""
        ancestors = machine.classes.ancestors(ScopeRef(owner.path, owner.scope))
        return union(machine.classes.own(place, name) for place in ancestors[1:])

    def is_declared_only(self, file: FileSymbols, number: int) -> bool:
        """Whether a method only says that subclasses have it: `@abstractmethod`."""
        return False

    def parent_words(self, file: FileSymbols) -> frozenset[str]:
        """Return the words by which a method calls the one that it replaces: `super` of Ruby."""
        return frozenset()

    # Functions that run where no call is written

    def use(self, file: FileSymbols, number: int) -> Use | None:
        """Return the use of an attribute that runs a function; None where only a call runs it."""
        return Use.READ if GETTER in file.scope(number).marks else None

    def unseen(self, file: FileSymbols, number: int, *, is_used: bool) -> Iterator[str]:
        """Yield how a function may run without a call or use in the tables.

        By default tables list no reads, so that a property may be read anywhere.
        """
        if is_used:
            yield "read as an attribute"

    def lookup(self, file: FileSymbols, *, members: bool) -> tuple[int, str] | None:
        """Return the line and name of a call that finds functions by a computed name."""
        return None

    def is_implicit(self, name: str) -> bool:
        """Whether functions of the language call methods of a name: `str(x)` runs `__str__`."""
        return False


class Compiled(Targets):
    """`new Cart()` names a class, never a function `Cart`."""

    def meant(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        values = machine.evaluate(place, call.function)
        if not (isinstance(call.function, list) and call.function[0] == NEW):
            return values
        return frozenset(value for value in values if machine.function_of(value) is None)

    def named(self, machine: Machine, place: ScopeRef, call: Call) -> Values:
        return classes_of(machine, machine.evaluate(place, call.function))


def classes_of(machine: Machine, values: Values) -> Values:
    """Return the classes among some values."""
    return frozenset(v for v in values if (s := machine.scope_of(v)) and s.kind == CLASS)
