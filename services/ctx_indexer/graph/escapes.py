"""Escapes of a definition: ways in which it may be called where no call shows it.

It is passed on as a value, a decorator calls it, or code looks its name up at run time.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.values import UNRESOLVED, ScopeRef, Value
from ctx_indexer.syntax.symbols.table import (
    BY_NAME,
    CALL,
    EITHER,
    MAPPING,
    SEQUENCE,
    Expression,
    last_name,
)

MAX_CHECKED = 60  # places whose values are resolved for one question
_HOLDING = frozenset([SEQUENCE, MAPPING, EITHER])


class Consequence(StrEnum):
    """The consequence of an escape for an answer."""

    CALLED_ELSEWHERE = "calls from there are not seen"
    FOUND_BY_NAME = "it may find this name at run time"


class Escape(NamedTuple):
    """A place from which a definition may be called; `how` says why: "passed as a value"."""

    path: str
    line: int
    how: str
    consequence: Consequence = Consequence.CALLED_ELSEWHERE


class Escapes:
    """Finds the escapes of definitions of one name, among some files."""

    def __init__(self, resolver: Resolver, targets: Sequence[Value], name: str) -> None:
        self._resolver = resolver
        self._targets = frozenset(targets)
        # A property runs where it is passed, so that its result is passed and not itself.
        self._passable = frozenset(t for t in targets if resolver.accessors.use(t) is None)
        self._name = name
        self._checked = 0
        written = re.escape(name)
        # Finds the name as an argument, `f(a.run)`, and not a call in one, `f(a.run())`.
        self._argument = re.compile(rf'(?<!\["\(\)",)"(?:[^"]*\.)?{written}"')

    def find(self, files: Iterable[FileSymbols]) -> list[Escape]:
        """Return the escapes that heads of definitions show, then places that pass them. Blocks."""
        found = list(self._unseen())
        for file in files if self._passable else ():
            if not file.passed.isdisjoint(file.aliases(self._name)):
                found += self._passed(file)
        return found

    def _unseen(self) -> Iterator[Escape]:
        """Yield how definitions run where their file shows neither a call nor a use."""
        for target in sorted(self._targets):
            file = self._resolver.file(target.path)
            if file is None:
                continue
            is_used = target not in self._passable
            for how in semantics_of(file).targets.unseen(file, target.scope, is_used=is_used):
                yield Escape(target.path, file.scope(target.scope).start, how)

    def _passed(self, file: FileSymbols) -> Iterator[Escape]:
        """Yield the places of a file that pass a definition on, hold or return it."""
        for number, given in enumerate(file.table.given()):
            if not given or not self._argument.search(given):
                continue
            call = file.table.calls[number]
            if any(self._means(file, call.scope, each) for each in call.arguments):
                yield Escape(file.path, call.line, "passed as a value")
        for binding in file.table.bindings:
            if isinstance(binding.value, list) and self._means(file, binding.scope, binding.value):
                yield Escape(file.path, file.scope(binding.scope).start, "kept as a value")
        for result in file.table.results:
            if self._means(file, result.scope, result.value):
                yield Escape(file.path, file.scope(result.scope).start, "returned as a value")

    def _means(self, file: FileSymbols, scope: int, written: Any) -> bool:
        """Whether an expression holds one of the definitions, or something unknown of its name."""
        for each in _parts(written):
            if last_name(each) != self._name or self._checked >= MAX_CHECKED:
                continue
            self._checked += 1
            self._resolver.start()
            values = self._resolver.evaluate(ScopeRef(file.path, scope), each)
            if self._passable & values or any(value.kind == UNRESOLVED for value in values):
                return True
        return False


def _parts(written: Any) -> Iterator[Expression]:
    """Yield an expression, or the parts of a container: `[f, g()]` → `f`; no call is one."""
    if isinstance(written, str):
        yield written
    elif written and written[0] == BY_NAME:
        yield from _parts(written[2])
    elif written and written[0] in _HOLDING:
        for each in written[1:]:
            yield from _parts(each)
    elif written and written[0] != CALL:
        yield written


def run_time_lookups(files: Iterable[FileSymbols], *, members: bool) -> Iterator[Escape]:
    """Yield a call of each file that finds something by a computed name: `getattr(x, name)`.

    `members` asks for calls that find members alone, such as `getattr`, as well.
    """
    for file in files:
        if found := semantics_of(file).targets.lookup(file, members=members):
            yield Escape(file.path, *found, Consequence.FOUND_BY_NAME)
