"""Counts the lines of code that refer to a name, by the kind of their use."""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.syntax.symbols.table import last_name


class ReferenceKind(StrEnum):
    """The use of a name on a line; of several uses, the first one listed here."""

    DEFINITION = "definition"
    IMPORT = "import"
    CALL = "call"
    OTHER = "other"  # the line inherits, reads or passes the name


def count_references(files: Iterable[FileSymbols], name: str) -> dict[str, int]:
    """Count the lines of files, each once, whose code refers to a name."""
    counts = Counter[ReferenceKind]()
    for file in files:
        kinds: dict[int, ReferenceKind] = {}
        for kind, line in _lines(file, name):
            kinds.setdefault(line, kind)
        counts.update(kinds.values())
    return {kind.value: counts[kind] for kind in ReferenceKind}


def _lines(file: FileSymbols, name: str) -> Iterator[tuple[ReferenceKind, int]]:
    table = file.table
    for scope in table.scopes[1:]:
        if scope.name == name:
            yield ReferenceKind.DEFINITION, scope.start
    for each in table.imports:
        if name in (each.name, each.alias):
            yield ReferenceKind.IMPORT, each.line
    for number in file.calls.get(name, ()):
        yield ReferenceKind.CALL, table.calls[number].line
    for scope in table.scopes[1:]:
        if any(last_name(base) == name for base in scope.bases):
            yield ReferenceKind.OTHER, scope.start
    for read in table.reads:
        if isinstance(read.value, str) and name in read.value.split("."):
            yield ReferenceKind.OTHER, read.line
    if name in file.passed:
        for number, given in enumerate(table.given()):
            if f'"{name}"' in given or f'.{name}"' in given:
                yield ReferenceKind.OTHER, table.calls[number].line
