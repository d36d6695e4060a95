"""Functions of a class that run where an attribute of an instance is read or assigned."""

from collections.abc import Mapping

from ctx_indexer.languages.semantics.files import SETTING
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.targets import Use
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    INSTANCE,
    NOTHING,
    OPEN,
    UNKNOWN_VALUE,
    ScopeRef,
    Value,
    Values,
    union,
)
from ctx_indexer.syntax.symbols.table import ATTRIBUTE, CALL, ITEM, Expression

SURE = ""
OVERRIDDEN = "a subclass of the receiver's type overrides it"
DECLARED_ONLY = "declared here for others to define"
ONE_OF = "one of {} that it may run"
THROUGH_SETTING = f"the class has {SETTING}, which runs first"
_WRAPPING = frozenset([CALL, ITEM])


class Accessors:
    """Finds the functions that run while expressions are read or assigned."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def use(self, value: Value) -> Use | None:
        """Return the use of an attribute that runs a definition; None where only a call runs it."""
        file = self._machine.file(value.path) if value.kind == DEFINITION else None
        return None if file is None else semantics_of(file).targets.use(file, value.scope)

    def run(
        self, place: ScopeRef, expression: Expression, *, assigned: bool = False
    ) -> Mapping[Value, str]:
        """Return the accessors that reading an expression runs, or assigning to it, with caveats.

        `cart.total` → `Cart.total` (SURE), or ONE_OF where the type of `cart` is one of two.
        """
        if isinstance(expression, str):
            return self._run_dotted(place, expression, assigned=assigned)
        if expression[0] in _WRAPPING:
            return self.run(place, expression[1])
        if expression[0] != ATTRIBUTE:
            return {}
        owners = self._machine.evaluate(place, expression[1])
        inner = self.run(place, expression[1])
        return {**inner, **self._run_member(owners, expression[2], assigned=assigned)}

    def _run_dotted(self, place: ScopeRef, expression: str, *, assigned: bool) -> dict[Value, str]:
        first, *rest = expression.split(".")
        values = self._machine.name(place, first) if rest else NOTHING
        found: dict[Value, str] = {}
        for position, name in enumerate(rest, 1):
            is_target = assigned and position == len(rest)
            found |= self._run_member(values, name, assigned=is_target)
            values = self._machine.attribute(values, name)
        return found

    def _run_member(self, owners: Values, name: str, *, assigned: bool) -> dict[Value, str]:
        instances = [owner for owner in owners if owner.kind == INSTANCE]
        found: dict[Value, str] = {}
        for owner in instances:
            found |= self._run_attribute(owner, name, Use.ASSIGNED if assigned else Use.READ)
        if len(found) > 1:
            found = dict.fromkeys(found, ONE_OF.format(len(found)))
        if not assigned:
            return found
        setting: dict[Value, str] = {}
        for owner in instances:
            setting |= self._run_attribute(owner, SETTING, Use.ANY_ASSIGNED)
        return {**dict.fromkeys(found, THROUGH_SETTING), **setting} if setting else found

    def _run_attribute(self, owner: Value, name: str, use: Use) -> dict[Value, str]:
        own = self._definitions(owner, name)
        below = self._below(owner, name) if owner.name == OPEN or not own else NOTHING
        found = {value: OVERRIDDEN for value in below if self.use(value) is use}
        run = [value for value in own if self.use(value) is use]
        return found | {value: self._caveat(value, is_overridden=bool(below)) for value in run}

    def _below(self, owner: Value, name: str) -> Values:
        """Return the definitions of an attribute in the subclasses of an owner's class."""
        return self._machine.classes.below(owner._replace(kind=DEFINITION), name)

    def _caveat(self, value: Value, *, is_overridden: bool) -> str:
        """Return why a property of an owner's type may not run; SURE where it runs."""
        if self._machine.classes.is_declared_only(value):
            return DECLARED_ONLY
        return OVERRIDDEN if is_overridden else SURE

    def is_unknown(self, place: ScopeRef, expression: Expression, name: str) -> bool:
        """Whether an attribute is read from something unknown: `total` of `find(x).total`."""
        if not isinstance(expression, str):
            if expression[0] == ATTRIBUTE and expression[2] == name:
                return UNKNOWN_VALUE in self._machine.evaluate(place, expression[1])
            return expression[0] in (*_WRAPPING, ATTRIBUTE) and self.is_unknown(
                place, expression[1], name
            )
        parts = expression.split(".")
        if name not in parts[1:]:
            return False
        owner = ".".join(parts[: parts.index(name, 1)])
        return UNKNOWN_VALUE in self._machine.evaluate(place, owner)

    def _definitions(self, owner: Value, name: str) -> Values:
        """Return the definitions of an attribute in the nearest class that has one."""
        machine = self._machine
        for place in machine.classes.ancestors(ScopeRef(owner.path, owner.scope)):
            file = machine.file(place.path)
            bound = file.bindings.get((place.scope, name)) if file else None
            if bound:
                places = ((ScopeRef(place.path, each.scope), each.value) for each in bound)
                return union(machine.evaluate(*each) for each in places)
        return NOTHING
