"""Chooses among methods of one name by the types of a call's arguments, as a compiler does."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ctx_indexer.languages.jvm.static_types import ANY, PRIMITIVE, VARIABLE, Fit, StaticTypes, Type
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.overloads import MAX_COMPARED
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import LOCAL, Parameter

# Phases after those of `Fit`: a call fits by passing the rest one by one, `add(1, 2)` of
# `add(int...)`; a call does not surely fit.
OPEN_PHASE, NEVER = 3, 4


class Applied(NamedTuple):
    """A method that may fit: the first phase in which it may, and the first in which it does."""

    method: Value
    types: Sequence[Type]
    first: int
    sure: int


class Overloads:
    """Chooses the methods of one name that a call may run."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.types = StaticTypes(machine)

    def chosen(self, place: ScopeRef, arguments: Sequence[Any], values: Values) -> Values:
        """Return the methods that a call may run, by its arguments; other values stay.

        `add(1)` → `add(int)` of `add(int)` and `add(String)`.
        """
        methods = [value for value in values if value.kind == DEFINITION]
        others = values - frozenset(methods)
        seen = [each for each in methods if self._is_seen(place, each)]
        counted = [each for each in seen if self._fits_count(each, len(arguments))]
        if len(counted) < 2:
            return frozenset(counted) or others or UNRESOLVED_VALUES
        if len(counted) > MAX_COMPARED:
            return frozenset(counted)
        given = [self.types.given(place, each) for each in arguments]
        applied = [each for method in counted if (each := self._applied(method, given))]
        if not applied:
            return frozenset(counted) | UNRESOLVED_VALUES
        best = min(each.sure for each in applied)
        near = [each for each in applied if each.first <= best]
        kept = [c for c in near if not any(self._beats(d, c, given) for d in near if d is not c)]
        return frozenset(each.method for each in kept or near)

    def _is_seen(self, place: ScopeRef, method: Value) -> bool:
        file = self._machine.file(method.path)
        return not file or method.path == place.path or LOCAL not in file.scope(method.scope).marks

    def is_replaced(self, method: Value, other: Value) -> bool:
        """Whether two methods have the same parameters, so that one replaces the other."""
        mine, theirs = self._parameters(method), self._parameters(other)
        if len(mine) != len(theirs):
            return False
        return all(
            self._same(self.types.expected(method, a), self.types.expected(other, b))
            for a, b in zip(mine, theirs, strict=True)
        )

    def _same(self, one: Type, other: Type) -> bool:
        """Whether two types may be the same; a variable may stand for any."""
        if one.dimensions != other.dimensions:
            return False
        kinds = {one.kind, other.kind}
        is_open = VARIABLE in kinds and PRIMITIVE not in kinds
        return one == other or ANY in kinds or is_open

    def _fits_count(self, method: Value, count: int) -> bool:
        parameters = self._parameters(method)
        if parameters and parameters[-1].name.startswith("*"):
            return count >= len(parameters) - 1
        return count == len(parameters)

    def _parameters(self, method: Value) -> Sequence[Parameter]:
        file = self._machine.file(method.path)
        return file.scope(method.scope).parameters if file else ()

    def _applied(self, method: Value, given: Sequence[Type]) -> Applied | None:
        parameters = self._parameters(method)
        types = [self.types.expected(method, each) for each in parameters]
        fits: list[Fit] = []
        if len(types) == len(given) and (fit := self._fit_all(given, types)) is not None:
            fits.append(fit)
        if parameters and parameters[-1].name.startswith("*"):
            types = _spread(types, len(given))
            if (fit := self._fit_all(given, types)) is not None:
                fits.append(Fit(OPEN_PHASE, fit.is_sure))
        if not fits:
            return None
        sure = [each.phase for each in fits if each.is_sure]
        return Applied(method, types, min(each.phase for each in fits), min(sure, default=NEVER))

    def _fit_all(self, given: Sequence[Type], expected: Sequence[Type]) -> Fit | None:
        fits = [self.types.fit(a, b) for a, b in zip(given, expected, strict=True)]
        known = [each for each in fits if each is not None]
        if len(known) < len(fits):
            return None
        phase = max((each.phase for each in known), default=1)
        return Fit(phase, all(each.is_sure for each in known))

    def _beats(self, one: Applied, other: Applied, given: Sequence[Type]) -> bool:
        """Whether a method surely fits, and is more specific: `add(int)` than `add(Object)`."""
        if one.sure == NEVER:
            return False
        return self._is_nearer(one, other, given) and not self._is_nearer(other, one, given)

    def _is_nearer(self, one: Applied, other: Applied, given: Sequence[Type]) -> bool:
        """Whether each type of a method fits that of another, or is the argument's very type."""
        each_type = zip(one.types, other.types, given, strict=False)
        return all(mine == own or self._is_below(mine, theirs) for mine, theirs, own in each_type)

    def _is_below(self, type_: Type, other: Type) -> bool:
        fit = self.types.fit(type_, other)
        return fit is not None and fit.is_sure and fit.phase == 1


def _spread(types: Sequence[Type], count: int) -> list[Type]:
    """Repeat the type of the last parameter, which takes the rest: `int...`, 2 → `int`, `int`."""
    last = types[-1]
    element = last._replace(dimensions=max(last.dimensions - 1, 0))
    fixed = list(types[:-1])
    return [*fixed, *[element] * (count - len(fixed))]
