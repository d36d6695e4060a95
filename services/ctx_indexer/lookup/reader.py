"""Reads definitions, lines and outlines of files, as they are on disk."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.errors import InvalidInput
from ctx_indexer.chunking.definition_spans import DefinitionSpan
from ctx_indexer.lookup.texts import FileText, FileTexts
from ctx_indexer.lookup.written_name import declared_package, name_parts, split_name
from ctx_indexer.syntax.definitions import MODULE, Definition, flatten, kind_weight

MAX_LINES = 400  # lines of one answer; start_line asks for further ones
MAX_HEAD = 200  # lines of a file that may declare its package: after a licence
MAX_SIGNATURE = 160  # characters of a definition's first line in a list


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
class FoundNames:
    """The definitions that a name means, and others that are called so too.

    `is_nearest` tells that nothing has the qualified name, and that these have its last part.
    `more_files` is the number of files with such definitions that were not read.
    """

    meant: Sequence[DefinitionLocation]
    others: Sequence[DefinitionLocation] = ()
    is_nearest: bool = False
    more_files: int = 0

    @property
    def every(self) -> list[DefinitionLocation]:
        return [*self.meant, *self.others]


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


def definitions_named(texts: FileTexts, files: Iterable[FileLocation], name: str) -> FoundNames:
    """Find the definitions of a plain or qualified name in files. Blocks while they are parsed.

    Where no definition has the qualified name, its first parts may be packages, namespaces or
    modules around it; where nothing has those either, the definitions of the last name are nearest.
    """
    parts = name_parts(name)
    known = [
        each
        for location in files
        for each in _with_surroundings(texts, location)
        if _has_name(each, parts[-1:])
    ]
    named = [each for each in known if _has_name(each, parts)]
    inside = [each for each in known if _is_inside(each, parts)]
    candidates = _as_written(named or inside or known, parts)
    meant = _meant(candidates, parts)
    others = [each for each in candidates if each not in meant and not _is_within(each, meant)]
    is_nearest = not named and not inside
    return FoundNames(_locations(texts, meant), _locations(texts, others), is_nearest)


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


def _definitions(texts: FileTexts, location: FileLocation) -> list[Definition]:
    file = texts.read_redacted(location.root, location.path)
    if file is None:
        return []
    return flatten(texts.outline(location.root, location.path, file).definitions)


@dataclass(frozen=True)
class _Surrounded:
    """A definition, and the names around it: of folders, file, namespaces and types."""

    file: FileLocation
    definition: Definition
    around: tuple[str, ...]
    namespaces: tuple[str, ...]

    def chains(self) -> list[list[str]]:
        """Return the qualified names that it may go by: with and without the file's own."""
        folders = [self.file.root.name, *split_name(self.file.path)[:-1]]
        path = split_name(self.definition.path)
        return [[*each, *self.namespaces, *path] for each in (folders, folders[:-1])]


def _with_surroundings(texts: FileTexts, location: FileLocation) -> Iterator[_Surrounded]:
    """Yield the definitions of a file with the names around each."""
    file = texts.read_redacted(location.root, location.path)
    if file is None:
        return
    outermost = texts.outline(location.root, location.path, file).definitions
    package = declared_package(file.rows()[:MAX_HEAD])
    pending = [(each, package, package) for each in reversed(outermost)]
    while pending:
        definition, around, namespaces = pending.pop()
        yield _Surrounded(location, definition, around, namespaces)
        own = tuple(split_name(definition.name))
        is_namespace = definition.kind == MODULE
        outer = (*namespaces, *own) if is_namespace else namespaces
        pending += [(each, (*around, *own), outer) for each in reversed(definition.children)]


def _is_inside(each: _Surrounded, parts: Sequence[str]) -> bool:
    """Whether the first parts of a name are around a definition: folders, file, namespaces."""
    folders = split_name(each.file.path)
    known = {each.file.root.name, *folders, *each.around, *split_name(each.definition.path)}
    return known.issuperset(parts)


def _has_name(each: _Surrounded, parts: Sequence[str]) -> bool:
    own = split_name(each.definition.path.lower())
    return own[-len(parts) :] == [part.lower() for part in parts]


def _as_written(found: list[_Surrounded], parts: Sequence[str]) -> list[_Surrounded]:
    """Keep the definitions written in the case that was given; where none is so, keep all."""
    for last in (parts, parts[-1:]):
        size = len(last)
        exact = [e for e in found if split_name(e.definition.path)[-size:] == list(last)]
        if exact:
            return exact
    return found


def _meant(found: list[_Surrounded], parts: Sequence[str]) -> list[_Surrounded]:
    """Choose the definitions that a name means: nearest qualified name, then weightiest kind."""
    whole = [e for e in found if split_name(e.definition.path) == list(parts)]
    chained = [e for e in found if any(c[-len(parts) :] == list(parts) for c in e.chains())]
    tail = [e for e in found if split_name(e.definition.path) == list(parts)[-1:]]
    found = (
        whole or (chained if len(parts) > 1 else []) or (tail if len(parts) > 1 else []) or found
    )
    heaviest = min((kind_weight(each.definition.kind) for each in found), default=0)
    found = [each for each in found if kind_weight(each.definition.kind) == heaviest]
    return [each for each in found if not _is_within(each, found)]


def _is_within(each: _Surrounded, outer: Iterable[_Surrounded]) -> bool:
    """Whether a definition lies in one of the others, which shows it: a constructor."""
    inner = each.definition
    return any(
        other.file == each.file
        and other.definition is not inner
        and other.definition.start <= inner.start
        and inner.end <= other.definition.end
        for other in outer
    )


def _locations(texts: FileTexts, found: Iterable[_Surrounded]) -> list[DefinitionLocation]:
    return [_location(texts, each.file, each.definition) for each in found]


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
