"""Call sites of a definition: exact ones, which the code resolves, and possible ones."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctx_indexer.graph.certainty import Certainty, certainty, is_attribute
from ctx_indexer.graph.escapes import Escape, Escapes, run_time_lookups
from ctx_indexer.graph.loading import LoadedTables
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    NOTHING,
    UNRESOLVED,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    CLASS,
    NEW,
    Call,
    Expression,
    Read,
    inside,
    last_name,
)

SECONDS = 0.5  # of computing for one question; a call that is met later is a possible one
NOT_RESOLVED = "same name, receiver not resolved"
NOT_FOUND = "same name, nothing shows where it comes from"
PROPERTY = "property of the receiver's type"
OUT_OF_TIME = "same name, no time to resolve it"


@dataclass(frozen=True)
class CallSite:
    """A call of a definition; `caller` is the qualified name of the function around it."""

    path: str
    line: int
    caller: str
    certainty: Certainty
    reason: str
    of: Value
    scope: int = 0  # the number of the caller in its file's table


class ComputingTime:
    """A budget of seconds that the thread may compute, counted from now on."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._started, self._spent = time.monotonic(), time.thread_time()

    def left(self) -> float:
        """Return the seconds of the budget that are left."""
        return self._seconds - (time.thread_time() - self._spent)

    def is_spent(self) -> bool:
        """Whether no time is left; the slow clock of the thread is read only when that may be."""
        return time.monotonic() - self._started > self._seconds and self.left() <= 0


class CallSites:
    """Finds the calls of definitions of one name, in rounds.

    A call is resolved once for all of them, and in a later round only where tables were missing.
    """

    def __init__(self, tables: LoadedTables, resolver: Resolver, targets: Sequence[Value]) -> None:
        self._tables = tables
        self._targets = targets
        self._resolver = resolver
        self._known: dict[tuple[str, int], Sequence[CallSite]] = {}
        self._seconds = SECONDS
        self._budget = ComputingTime(SECONDS)
        self.unresolved = 0  # calls that were met when no time was left
        self._overridden: dict[Value, Values] = {}
        self._members: set[Value] = set()
        self._decorated: Values = NOTHING

    def find(self) -> list[CallSite]:
        """Return the calls among the loaded tables, file by file. Blocks up to SECONDS."""
        self._budget = ComputingTime(self._seconds)
        self.unresolved = 0
        found = list(self._find())
        self._seconds = self._budget.left()
        return found

    def _find(self) -> Iterator[CallSite]:
        for name, targets in self._by_name().items():
            self._overridden = {each: self._find_overridden(each) for each in targets}
            self._members = {each for each in targets if self._is_member(each)}
            self._decorated = frozenset(each for each in targets if self._is_decorated(each))
            for file in self._files(name, targets):
                yield from self._in_file(file, name, targets)

    def escapes(self) -> list[Escape]:
        """Return the places from which a definition may be called unseen, among loaded tables."""
        found: list[Escape] = []
        for name, targets in self._by_name().items():
            files = self._files(name, targets)
            found += Escapes(self._resolver, targets, name).find(files)
            members = any(self._is_member(each) for each in targets)
            found += run_time_lookups(files, members=members)
        return found

    def _files(self, name: str, targets: Sequence[Value]) -> list[FileSymbols]:
        """Return the files of the definitions, and the files that mention their name."""
        homes = [file for each in targets if (file := self._tables.file(each.path))]
        files = {file.path: file for file in [*homes, *self._tables.callers(name)]}
        return [files[path] for path in sorted(files)]

    def _by_name(self) -> dict[str, list[Value]]:
        """Return the definitions by the name that calls of them end in: `__init__` by its class."""
        found: dict[str, list[Value]] = defaultdict(list)
        for each in self._targets:
            if (home := self._tables.file(each.path)) is not None:
                found[home.called_name(each.scope)[0]].append(each)
        return found

    def _in_file(
        self, file: FileSymbols, name: str, targets: Sequence[Value]
    ) -> Iterator[CallSite]:
        names = file.aliases(name).union(*(self._words(each, file) for each in targets))
        numbers = [number for each in names for number in file.calls.get(each, ())]
        for number in sorted(numbers):
            yield from self._sites(file, number, name, targets)
        accessors = self._resolver.accessors
        if run := [each for each in targets if accessors.use(each) is not None]:
            yield from self._uses(file, name, run)

    def _uses(self, file: FileSymbols, name: str, targets: Sequence[Value]) -> Iterator[CallSite]:
        """Yield the reads of a property and the assignments that run it, each once."""
        found: dict[CallSite, None] = {}
        for use in file.uses(name):
            if self._budget.is_spent():
                self.unresolved += 1
                continue
            self._resolver.start()
            found |= dict.fromkeys(self._used(file, use, name, targets))
        yield from found

    def _used(
        self, file: FileSymbols, use: Read, name: str, targets: Sequence[Value]
    ) -> Iterator[CallSite]:
        place, accessors = ScopeRef(file.path, use.scope), self._resolver.accessors
        run = accessors.run(place, use.value, assigned=use.how == ASSIGNED)
        found = [each for each in targets if each in run]
        for each in found:
            sureness = Certainty.POSSIBLE if run[each] else Certainty.EXACT
            yield _site(file, use, sureness, run[each] or PROPERTY, each)
        if not found and accessors.is_unknown(place, use.value, name):
            yield _site(file, use, Certainty.POSSIBLE, NOT_RESOLVED, targets[0])

    def _find_overridden(self, target: Value) -> Values:
        """Return the methods of base classes and interfaces that a definition replaces."""
        home, number = self._tables.file(target.path), target.scope
        if home is None or home.is_constructor(number) or home.scope(number).kind == CLASS:
            return NOTHING
        self._resolver.start()
        found = semantics_of(home).targets.replaced_by(self._resolver, home, target)
        return found - {target}

    def _words(self, target: Value, file: FileSymbols) -> frozenset[str]:
        """Return the words by which code of a class calls an inherited method: `super`, `this`."""
        home, words = self._tables.file(target.path), file.words
        if home is not None and home.is_constructor(target.scope):
            return words.parent | words.instance | {home.scope(target.scope).name}
        return semantics_of(file).targets.parent_words(file)

    def _sites(
        self, file: FileSymbols, number: int, name: str, targets: Sequence[Value]
    ) -> Sequence[CallSite]:
        key = (file.path, number)
        if key in self._known:
            return self._known[key]
        call = file.table.calls[number]
        fitting = self._fitting(file, call, name, targets)
        if self._budget.is_spent():
            self.unresolved += 1
            return [_site(file, call, Certainty.POSSIBLE, OUT_OF_TIME, e) for e in fitting[:1]]
        before = self._tables.misses
        found = list(self._resolved(file, call, targets, fitting))
        if self._tables.misses == before:
            self._known[key] = found
        return found

    def _is_member(self, target: Value) -> bool:
        home = self._tables.file(target.path)
        return home is not None and home.called_name(target.scope)[1]

    def _is_decorated(self, target: Value) -> bool:
        home = self._tables.file(target.path)
        return home is not None and bool(home.scope(target.scope).decorators)

    def _fitting(
        self, file: FileSymbols, call: Call, name: str, targets: Sequence[Value]
    ) -> Sequence[Value]:
        """Return the definitions that an unresolved call may mean: in Python `run()` no member."""
        if last_name(call.function) != name:
            return ()
        by_receiver, names = is_attribute(call.function), semantics_of(file).names
        return [
            each
            for each in targets
            if names.may_mean(is_member=each in self._members, by_receiver=by_receiver)
        ]

    def _resolved(
        self, file: FileSymbols, call: Call, targets: Sequence[Value], fitting: Sequence[Value]
    ) -> Iterator[CallSite]:
        """Yield a site of the call for each definition that it runs or may run."""
        place, resolver = ScopeRef(file.path, call.scope), self._resolver
        semantics = semantics_of(file)
        resolver.start()
        values = resolver.calls.targets(place, call)
        every = values | semantics.targets.named(resolver, place, call)
        if self._decorated:
            resolver.undecorated.start()
            every |= self._decorated & resolver.undecorated.evaluate(place, call.function)
        sure = [each for each in targets if each in every]
        one = semantics.overloads.one_of(resolver, values, sure)
        sureness, reason = certainty(resolver, place, call, one or values)
        for each in one.intersection(sure) or sure:
            yield _site(file, call, sureness, reason or _reason(file, call, each), each)
        replaced = [e for e in targets if e not in every and self._overridden[e] & values]
        for each in replaced:
            yield _site(file, call, Certainty.POSSIBLE, semantics.targets.replaced, each)
        is_known = sure or replaced or any(value.kind == DEFINITION for value in values)
        if is_known:
            return
        for each in fitting:
            if reason := _why_possible(file, last_name(call.function), values, each):
                yield _site(file, call, Certainty.POSSIBLE, reason, each)
                return


def _why_possible(file: FileSymbols, name: str, values: Values, target: Value) -> str:
    """Return why a call that resolves to no definition may run one; empty where it does not."""
    if any(value.kind == UNRESOLVED for value in values):
        return NOT_RESOLVED
    if semantics_of(file).visible.is_brought(values, name):
        return NOT_FOUND
    return next(filter(None, (outside_reason(file, value, target) for value in values)), "")


def outside_reason(file: FileSymbols, value: Value, target: Value) -> str:
    """Return why an import without a file may bring a definition; empty where it does not.

    `import { retry } from "@shop/net"` → "@shop/net is not resolved", for `net/retry.ts`.
    """
    module = value.name.rpartition(".")[0]
    if value.kind != EXTERNAL or not module or module.startswith(BUILTINS):
        return ""
    same = semantics_of(file).visible.may_mean(module, target.path)
    return f"{module} is not resolved" if same else ""


def _site(
    file: FileSymbols, at: Call | Read, certainty: Certainty, reason: str, of: Value
) -> CallSite:
    number = file.outside_blocks(at.scope)
    caller = file.scope(number).path
    return CallSite(file.path, at.line, caller, certainty, reason, of, number)


def _reason(file: FileSymbols, call: Call, target: Value) -> str:
    function = inside(call.function[1] if _constructs(call.function) else call.function)
    if not isinstance(function, str):
        return "resolved through what a call returns"
    first = function.partition(".")[0]
    receiver = file.receiver(call.scope)
    if receiver is not None and (receiver.name == first or first in file.words.instance):
        return "method of its own instance"
    if any(each.alias == first for each in file.table.imports):
        return "imported"
    if target.path == file.path and "." not in function:
        return "same file"
    return "type of the receiver" if "." in function else "bound to this name"


def _constructs(function: Expression) -> bool:
    return isinstance(function, list) and function[0] == NEW
