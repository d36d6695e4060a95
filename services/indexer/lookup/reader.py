"""Reads definitions, lines and outlines of files, as they are on disk."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.core.errors import InvalidInput
from services.indexer.chunking.definition_spans import DefinitionSpan
from services.indexer.lookup.texts import FileText, FileTexts
from services.indexer.syntax.definitions import Definition, flatten

MAX_LINES = 400  # of one answer; the rest is asked for with start_line
MAX_SIGNATURE = 160  # characters of a definition's first line in a list
_SEPARATORS = ("::", "#", "->", "/")
IMPLEMENTATION = "impl"  # of a type, which is what its name stands for


@dataclass(frozen=True)
class FileLocation:
    """A file of a checkout."""

    repo: str
    root: Path
    path: str


@dataclass(frozen=True)
class DefinitionLocation:
    """A definition in a file, its lines counted from 1."""

    file: FileLocation
    symbol: str
    kind: str
    start_line: int
    end_line: int
    signature: str

    @property
    def span(self) -> DefinitionSpan:
        """The definition as a snippet shows it."""
        return DefinitionSpan(
            self.symbol, self.kind, self.start_line, self.end_line, self.start_line
        )


@dataclass(frozen=True)
class Lines:
    """Some lines of a file, numbered from `start_line`, and how many the file has."""

    file: FileLocation
    start_line: int
    rows: Sequence[str]
    total: int

    @property
    def end_line(self) -> int:
        return self.start_line + len(self.rows) - 1


def definitions_named(
    texts: FileTexts, files: Iterable[FileLocation], name: str
) -> list[DefinitionLocation]:
    """Find the definitions of a plain or qualified name in files. Blocks while they are parsed.

    A name in another case counts only where none is written as it was given. Where no definition
    has the qualified name, its first parts may be packages, namespaces or modules: those of the
    last name count, first of all where a folder, a file or a namespace around them is so called.
    """
    parts = split_name(name)
    known = [
        (location, definition, around)
        for location in files
        for definition, around in _with_namespaces(texts, location)
        if _is_named(definition, parts[-1:])
    ]
    found = [each for each in known if _is_named(each[1], parts)]
    exact = [each for each in found if split_name(each[1].path)[-len(parts) :] == parts]
    inside = [each for each in known if _is_inside(each[0], each[1], each[2], parts)]
    chosen = exact or found or inside or known
    types = [each for each in chosen if each[1].kind != IMPLEMENTATION]
    return [_location(texts, location, each) for location, each, _ in types or chosen]


def outline_of(texts: FileTexts, location: FileLocation) -> list[DefinitionLocation]:
    """List the definitions of a file. Blocks. Raises InvalidInput where it cannot be read."""
    require_file(texts, location)
    return [_location(texts, location, each) for each in _definitions(texts, location)]


def lines_of(
    texts: FileTexts, location: FileLocation, start_line: int, end_line: int | None
) -> Lines:
    """Read lines, at most MAX_LINES. Blocks. Raises InvalidInput for lines that are not there."""
    rows = require_file(texts, location).rows()
    if start_line > max(len(rows), 1):
        raise InvalidInput("start_line", f"{location.path} has {len(rows)} lines")
    if end_line is not None and end_line < start_line:
        raise InvalidInput("end_line", f"must not be before start_line {start_line}")
    end = min(end_line or len(rows), len(rows), start_line + MAX_LINES - 1)
    return Lines(location, start_line, rows[start_line - 1 : end], len(rows))


def require_file(texts: FileTexts, location: FileLocation) -> FileText:
    """Read a file. Raises InvalidInput where it is gone, or is never read."""
    file = texts.read_redacted(location.root, location.path)
    if file is None:
        raise InvalidInput(
            "path",
            f"{location.path} cannot be read: it is gone, or is a link, a binary or a secret file",
        )
    return file


def split_name(name: str) -> list[str]:
    """Split a qualified name: `Class.method`, `module::Type`, `Class#method`."""
    for separator in _SEPARATORS:
        name = name.replace(separator, ".")
    return [part for part in name.split(".") if part]


def _definitions(texts: FileTexts, location: FileLocation) -> list[Definition]:
    file = texts.read_redacted(location.root, location.path)
    if file is None:
        return []
    return flatten(texts.outline(location.root, location.path, file).definitions)


def _with_namespaces(
    texts: FileTexts, location: FileLocation
) -> Iterator[tuple[Definition, frozenset[str]]]:
    """Yield the definitions of a file with the names of the namespaces around each."""
    file = texts.read_redacted(location.root, location.path)
    if file is None:
        return
    outermost = texts.outline(location.root, location.path, file).definitions
    pending: list[tuple[Definition, frozenset[str]]] = [(each, frozenset()) for each in outermost]
    while pending:
        definition, around = pending.pop(0)
        yield definition, around
        inner = around | set(split_name(definition.name)) if definition.children else around
        pending = [(each, inner) for each in definition.children] + pending


def _is_inside(
    location: FileLocation, definition: Definition, around: frozenset[str], parts: Sequence[str]
) -> bool:
    """Whether the first parts of a name are around a definition: folders, file, namespaces."""
    folders = split_name(location.path)
    return {*folders, *around, *split_name(definition.path)}.issuperset(parts)


def _is_named(definition: Definition, parts: Sequence[str]) -> bool:
    own = split_name(definition.path.lower())
    return own[-len(parts) :] == [part.lower() for part in parts]


def _location(
    texts: FileTexts, location: FileLocation, definition: Definition
) -> DefinitionLocation:
    rows = require_file(texts, location).rows()
    head = min(definition.head, len(rows) - 1)
    return DefinitionLocation(
        location,
        definition.path,
        definition.kind,
        definition.start + 1,
        definition.end + 1,
        rows[head].strip()[:MAX_SIGNATURE] if rows else "",
    )
