"""Properties: functions of a class that run where an attribute of an instance is used."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ctx_indexer.graph.files import SETTING
from ctx_indexer.graph.values import (
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
from ctx_indexer.syntax.symbols.table import ATTRIBUTE, CALL, GETTER, ITEM, Expression

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver

GETTERS = frozenset(["property", "cached_property", "functools.cached_property"])
SETTER = ".setter"  # ends the decorator of a function that an assignment runs
SURE = ""
OVERRIDDEN = "a subclass of the receiver's type overrides it"
DECLARED_ONLY = "declared here for others to define"
ONE_OF = "one of {} that it may run"
THROUGH_SETTING = f"the class has {SETTING}, which runs first"
_WRAPPING = frozenset([CALL, ITEM])


class Properties:
    """Finds the properties that run while expressions are read or assigned."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver

    def is_getter(self, value: Value) -> bool:
        """Whether reading an attribute runs a definition."""
        return not GETTERS.isdisjoint(self._marks(value)) or self._is_accessor(value)

    def is_setter(self, value: Value) -> bool:
        """Whether assigning to an attribute runs a definition."""
        return any(mark.endswith(SETTER) for mark in self._marks(value))

    def is_setting(self, value: Value) -> bool:
        """Whether assigning to any attribute runs a definition."""
        scope = self._resolver.scope_of(value)
        return scope is not None and scope.name == SETTING

    def is_run_by_use(self, value: Value) -> bool:
        """Whether a definition runs where no call is written: an attribute is read or assigned."""
        return self.is_getter(value) or self.is_setter(value) or self.is_setting(value)

    def _is_accessor(self, value: Value) -> bool:
        scope = self._resolver.scope_of(value)
        return scope is not None and GETTER in scope.marks

    def _marks(self, value: Value) -> list[str]:
        file = self._resolver.tables.file(value.path) if value.kind == DEFINITION else None
        return list(file.marks(value.scope)) if file else []

    def run(
        self, place: ScopeRef, expression: Expression, *, assigned: bool = False
    ) -> Mapping[Value, str]:
        """Return what runs while an expression is read, or assigned, and why that is not SURE."""
        if isinstance(expression, str):
            return self._run_dotted(place, expression, assigned=assigned)
        if expression[0] in _WRAPPING:
            return self.run(place, expression[1])
        if expression[0] != ATTRIBUTE:
            return {}
        owners = self._resolver.evaluate(place, expression[1])
        inner = self.run(place, expression[1])
        return {**inner, **self._run_member(owners, expression[2], assigned=assigned)}

    def _run_dotted(self, place: ScopeRef, expression: str, *, assigned: bool) -> dict[Value, str]:
        first, *rest = expression.split(".")
        values = self._resolver.name(place, first) if rest else NOTHING
        found: dict[Value, str] = {}
        for position, name in enumerate(rest, 1):
            is_target = assigned and position == len(rest)
            found |= self._run_member(values, name, assigned=is_target)
            values = self._resolver.attribute(values, name)
        return found

    def _run_member(self, owners: Values, name: str, *, assigned: bool) -> dict[Value, str]:
        instances = [owner for owner in owners if owner.kind == INSTANCE]
        found: dict[Value, str] = {}
        for owner in instances:
            found |= self._run_attribute(
                owner, name, self.is_setter if assigned else self.is_getter
            )
        if len(found) > 1:
            found = dict.fromkeys(found, ONE_OF.format(len(found)))
        if not assigned:
            return found
        setting: dict[Value, str] = {}
        for owner in instances:
            setting |= self._run_attribute(owner, SETTING, self.is_setting)
        return {**dict.fromkeys(found, THROUGH_SETTING), **setting} if setting else found

    def _run_attribute(
        self, owner: Value, name: str, runs: Callable[[Value], bool]
    ) -> dict[Value, str]:
        own = self._definitions(owner, name)
        below = self._below(owner, name) if owner.name == OPEN or not own else NOTHING
        found = {value: OVERRIDDEN for value in below if runs(value)}
        return found | {v: self._caveat(v, is_overridden=bool(below)) for v in own if runs(v)}

    def _below(self, owner: Value, name: str) -> Values:
        """Return the definitions of an attribute in the classes below an owner's."""
        return self._resolver.classes.below(owner._replace(kind=DEFINITION), name)

    def _caveat(self, value: Value, *, is_overridden: bool) -> str:
        """Return why it is not sure that a property of an owner's type runs."""
        if self._resolver.classes.is_declared_only(value):
            return DECLARED_ONLY
        return OVERRIDDEN if is_overridden else SURE

    def is_unknown(self, place: ScopeRef, expression: Expression, name: str) -> bool:
        """Whether nothing is known of what an attribute of an expression is read from."""
        if not isinstance(expression, str):
            if expression[0] == ATTRIBUTE and expression[2] == name:
                return UNKNOWN_VALUE in self._resolver.evaluate(place, expression[1])
            return expression[0] in (*_WRAPPING, ATTRIBUTE) and self.is_unknown(
                place, expression[1], name
            )
        parts = expression.split(".")
        if name not in parts[1:]:
            return False
        owner = ".".join(parts[: parts.index(name, 1)])
        return UNKNOWN_VALUE in self._resolver.evaluate(place, owner)

    def _definitions(self, owner: Value, name: str) -> Values:
        """Return the definitions of an attribute in the nearest class that has one."""
        resolver = self._resolver
        for place in resolver.classes.ancestors(ScopeRef(owner.path, owner.scope)):
            file = resolver.tables.file(place.path)
            bound = file.bindings.get((place.scope, name)) if file else None
            if bound:
                places = ((ScopeRef(place.path, each.scope), each.value) for each in bound)
                return union(resolver.evaluate(*each) for each in places)
        return NOTHING
