"""Call sites of a definition: exact ones, resolved by the code, and possible ones, by name."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from services.indexer.graph.files import FileSymbols
from services.indexer.graph.loading import LoadedTables
from services.indexer.graph.resolver import Resolver
from services.indexer.graph.values import (
    DEFINITION,
    NOTHING,
    UNRESOLVED,
    ScopeRef,
    Value,
    Values,
)
from services.indexer.syntax.symbols.scripting import PYTHON
from services.indexer.syntax.symbols.table import (
    ATTRIBUTE,
    CLASS,
    Call,
    Expression,
    last_name,
)

SECONDS = 1.5  # of resolving for one question; calls beyond it are possible ones
NOT_RESOLVED = "same name, receiver not resolved"
IMPLICIT = "run by a function of the language"
# Methods that `str(x)`, `len(x)` and the like run: no reader of the line sees their names.
BY_BUILTINS = frozenset(PYTHON.runs.values()) - {"__iter__", "__next__"}
PROPERTY = "property of the receiver's type"
OVERRIDES = "calls the method that it overrides"
OUT_OF_TIME = "same name, no time to resolve it"


class Certainty(StrEnum):
    """Whether the code says who is called, or only the name agrees."""

    EXACT = "exact"
    POSSIBLE = "possible"


@dataclass(frozen=True)
class CallSite:
    """A call of a definition; `caller` is the qualified name of the function around it."""

    path: str
    line: int
    caller: str
    certainty: Certainty
    reason: str
    scope: int = 0  # of the caller, in its file's table


class CallSites:
    """Finds the calls of a definition, in rounds: what is known for certain is not asked again."""

    def __init__(self, tables: LoadedTables, target: Value) -> None:
        self._tables = tables
        self._target = target
        self._known: dict[tuple[str, int], tuple[Certainty, str] | None] = {}
        self._deadline = time.monotonic() + SECONDS
        self.unresolved = 0  # calls that there was no time for
        self._overridden: Values = NOTHING

    def find(self) -> list[CallSite]:
        """Return the calls among the loaded tables, file by file. Blocks up to SECONDS."""
        self.unresolved = 0
        return list(self._find())

    def _find(self) -> Iterator[CallSite]:
        home = self._tables.file(self._target.path)
        if home is None:
            return
        name, is_member = home.called_name(self._target.scope)
        resolver = Resolver(self._tables)
        self._overridden = self._find_overridden(resolver, home)
        files = {file.path: file for file in [home, *self._tables.callers(name)]}
        for path in sorted(files):
            file = files[path]
            names = file.aliases(name) | self._words(home, file)
            numbers = [n for each in names for n in file.calls.get(each, ())]
            for number in sorted(numbers):
                call = file.table.calls[number]
                found = self._certainty(resolver, file, number, name, is_member=is_member)
                if found is not None:
                    caller = file.scope(call.scope).path
                    yield CallSite(path, call.line, caller, *found, scope=call.scope)
            if resolver.classes.is_property(self._target):
                yield from self._reads(resolver, file, name)

    def _reads(self, resolver: Resolver, file: FileSymbols, name: str) -> Iterator[CallSite]:
        """Yield the places where a property is read, which runs it."""
        for read in file.table.reads:
            if not isinstance(read.value, str) or name not in read.value.split(".")[1:]:
                continue
            if time.monotonic() > self._deadline:
                self.unresolved += 1
                continue
            resolver.start()
            place = ScopeRef(file.path, read.scope)
            if self._target in resolver.classes.properties(place, read.value):
                found = (Certainty.EXACT, PROPERTY)
            elif resolver.classes.is_unknown(place, read.value, name):
                found = (Certainty.POSSIBLE, NOT_RESOLVED)
            else:
                continue
            caller = file.scope(read.scope).path
            yield CallSite(file.path, read.line, caller, *found, scope=read.scope)

    def _find_overridden(self, resolver: Resolver, home: FileSymbols) -> Values:
        """Return the methods of base classes that the target replaces."""
        number = self._target.scope
        if home.is_constructor(number) or home.scope(number).kind == CLASS:
            return NOTHING
        resolver.start()
        found: set[Value] = set()
        for value in resolver.classes.around(ScopeRef(home.path, number)):
            for place in resolver.classes.ancestors(ScopeRef(value.path, value.scope))[1:]:
                found |= resolver.classes.own(place, home.scope(number).name)
        return frozenset(found - {self._target})

    def _words(self, home: FileSymbols, file: FileSymbols) -> frozenset[str]:
        """Return the words by which a class's own code calls what it inherits."""
        number, rules = self._target.scope, file.rules
        if home.is_constructor(number):
            return rules.parent | rules.instance | {home.scope(number).name}
        return rules.parent if rules.runs_names else frozenset()

    def _certainty(
        self, resolver: Resolver, file: FileSymbols, number: int, name: str, *, is_member: bool
    ) -> tuple[Certainty, str] | None:
        key = (file.path, number)
        if key in self._known:
            return self._known[key]
        call = file.table.calls[number]
        is_attribute = _is_attribute(call.function)
        same_kind = is_attribute or not is_member or file.rules.implicit
        if file.rules.explicit_self:
            same_kind = is_attribute == is_member
        fits = last_name(call.function) == name and same_kind
        if time.monotonic() > self._deadline:
            self.unresolved += 1
            return (Certainty.POSSIBLE, OUT_OF_TIME) if fits else None
        before = self._tables.misses
        found = _resolved(resolver, file, call, self._target, self._overridden, fits=fits)
        if self._tables.misses == before:
            self._known[key] = found
        return found


def _resolved(
    resolver: Resolver,
    file: FileSymbols,
    call: Call,
    target: Value,
    overridden: Values,
    *,
    fits: bool,
) -> tuple[Certainty, str] | None:
    place = ScopeRef(file.path, call.scope)
    resolver.start()
    values = resolver.calls.targets(place, call)
    if target in values or target in resolver.evaluate(place, call.function):
        if last_name(call.function) in BY_BUILTINS:
            return Certainty.POSSIBLE, IMPLICIT
        return Certainty.EXACT, _reason(file, call, target)
    if overridden & values:
        return Certainty.POSSIBLE, OVERRIDES
    if not fits or not any(value.kind == UNRESOLVED for value in values):
        return None
    known = any(value.kind == DEFINITION for value in values)
    return None if known else (Certainty.POSSIBLE, NOT_RESOLVED)


def _reason(file: FileSymbols, call: Call, target: Value) -> str:
    function = call.function
    if not isinstance(function, str):
        return "resolved through what a call returns"
    first = function.partition(".")[0]
    receiver = file.receiver(call.scope)
    if receiver is not None and (receiver.name == first or first in file.rules.instance):
        return "method of its own instance"
    if any(each.alias == first for each in file.table.imports):
        return "imported"
    if target.path == file.path and "." not in function:
        return "same file"
    return "type of the receiver" if "." in function else "bound to this name"


def _is_attribute(function: Expression) -> bool:
    return "." in function if isinstance(function, str) else function[0] == ATTRIBUTE
