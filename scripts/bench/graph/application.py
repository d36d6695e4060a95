"""Every call of the files below a folder, with what the symbol graph says that it runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ctx_indexer.graph.certainty import Certainty, certainty
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.registry import file_symbols
from ctx_indexer.languages.semantics.targets import Use
from ctx_indexer.languages.semantics.values import DEFINITION, UNRESOLVED, ScopeRef, Value
from ctx_indexer.source.languages import language_of
from ctx_indexer.syntax.outline import outline
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    CLASS,
    Call,
    Read,
    definition_mention,
    inner_names,
    last_name,
)

_TOGETHER = frozenset(["typescript", "tsx", "javascript"])  # whose files import one another


class Resolved(NamedTuple):
    """A call, or a read that runs a property, and a definition that it runs."""

    path: str
    line: int
    scope: int
    certainty: Certainty
    target: Value
    is_read: bool = False


class Application:
    """The symbol tables of files of one language, all of them loaded."""

    misses = 0  # everything is loaded

    def __init__(self, root: Path, paths: Iterable[Path], language: str = "python") -> None:
        self._files: dict[str, FileSymbols] = {}
        self.rows: dict[str, list[str]] = {}
        for path in sorted(paths):
            text = path.read_text(errors="replace")
            name = str(path.relative_to(root))
            table = outline(text, _language(name, language), with_symbols=True).symbols
            self.rows[name] = text.splitlines()
            if table is not None:
                self._files[name] = file_symbols(name, table)

    @property
    def files(self) -> Mapping[str, FileSymbols]:
        """The files by their paths."""
        return self._files

    def file(self, path: str) -> FileSymbols | None:
        """Return a file's symbols."""
        return self._files.get(path)

    def callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the files that mention a name."""
        return [file for file in self._files.values() if name in file.mentions]

    few_callers = callers

    def definers(self, name: str) -> Sequence[FileSymbols]:
        """Return the files that define a name for others."""
        return self.callers(definition_mention(name))

    def runs(self, value: Value) -> bool:
        """Whether a value is a function of the files."""
        file = self._files.get(value.path) if value.kind == DEFINITION else None
        return file is not None and file.scope(value.scope).kind != CLASS

    def innermost(self, path: str, line: int) -> int:
        """Return the last function or class that begins before a line and ends after it."""
        scopes = enumerate(self._files[path].table.scopes)
        inside = (n for n, each in scopes if each.start <= line <= each.end)
        return max(n for n in inside if not self._files[path].scope(n).name.startswith("<"))

    def resolve(self) -> Iterator[Resolved]:
        """Yield what each call may run, and each read of a property."""
        resolver = Resolver(self)
        for file in self._files.values():
            for call in file.table.calls:
                yield from self._call(resolver, file, call)
                yield from self._use(resolver, file, Read(call.scope, call.line, call.function))
            for read in file.table.reads:
                yield from self._use(resolver, file, read)

    def _call(self, resolver: Resolver, file: FileSymbols, call: Call) -> Iterator[Resolved]:
        resolver.start()
        place = ScopeRef(file.path, call.scope)
        values = resolver.calls.targets(place, call)
        sureness = certainty(resolver, place, call, values)[0]
        if last_name(call.function) == "__iter__":
            values |= resolver.attribute(resolver.calls.called(values), "__next__")
        for value in values:
            if value.kind == DEFINITION and value.path in self._files:
                yield Resolved(file.path, call.line, call.scope, sureness, value)
        possible = set(resolver.calls.overriding(place, call))
        if any(value.kind == UNRESOLVED for value in values):
            possible.update(self._named.get(last_name(call.function), ()))
        for value in possible:
            if value.path in self._files:
                yield Resolved(file.path, call.line, call.scope, Certainty.POSSIBLE, value)

    def _use(self, resolver: Resolver, file: FileSymbols, use: Read) -> Iterator[Resolved]:
        resolver.start()
        place = ScopeRef(file.path, use.scope)
        properties = resolver.accessors
        for value, caveat in properties.run(place, use.value, assigned=use.how == ASSIGNED).items():
            sureness = Certainty.POSSIBLE if caveat else Certainty.EXACT
            yield Resolved(file.path, use.line, use.scope, sureness, value, is_read=True)
        for name in set(inner_names(use.value)):
            if properties.is_unknown(place, use.value, name):
                named = self._named.get(name, ())
                for value in (each for each in named if properties.use(each) is Use.READ):
                    yield Resolved(
                        file.path, use.line, use.scope, Certainty.POSSIBLE, value, is_read=True
                    )

    @cached_property
    def _named(self) -> dict[str, list[Value]]:
        """Definitions by their names."""
        found: dict[str, list[Value]] = {}
        for path, file in self._files.items():
            for number, scope in enumerate(file.table.scopes):
                if number:
                    found.setdefault(scope.name, []).append(Value(DEFINITION, path, number))
        return found


def _language(name: str, language: str) -> str:
    """Return the language of a file: its own among those that are read together."""
    own = language_of(name)
    return own if own in _TOGETHER and language in _TOGETHER else language
