"""Reads files of a view as they are on disk: by path, their lines and their definitions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.blocking import DISK
from ctx_core.errors import InvalidInput
from ctx_indexer.lookup.definitions import SUGGESTIONS
from ctx_indexer.lookup.reader import (
    DefinitionLocation,
    FileLocation,
    Lines,
    lines_of,
    outline_of,
    require_file,
)
from ctx_indexer.lookup.selection import IndexedFiles, LineSpans
from ctx_indexer.lookup.texts import FileTexts
from ctx_indexer.search.constants import constant_lines
from ctx_indexer.search.snippet import Rows
from ctx_indexer.syntax.definitions import Definition
from ctx_indexer.view.view import ALL_REPOS, View

File = tuple[str, str]  # a repo, and a path in it


@dataclass(frozen=True)
class ParsedFile:
    """The lines of a file, its definitions, and the numbers of its comment and docstring lines."""

    rows: Sequence[str]
    definitions: Sequence[Definition]
    documented: frozenset[int]


class ReadFiles:
    """Reads the files of a view, without secrets."""

    def __init__(self, indexed: IndexedFiles, texts: FileTexts) -> None:
        self._indexed = indexed
        self._texts = texts

    async def file(self, view: View, path: str) -> FileLocation:
        """Find an indexed file of the view's repos by its path, whole or its end.

        Raises InvalidInput where no file or several have it.
        """
        inside = dict(view.paths.located(path))
        exact: list[FileLocation] = []
        found: list[FileLocation] = []
        below: list[str] = []
        for checkout in await self._indexed.checkouts(view, view.repos):
            wanted = inside.get(checkout.repo)
            if wanted is None:
                continue
            rows = await self._indexed.rows(checkout)
            if wanted in rows:
                exact.append(FileLocation(checkout.repo, checkout.root, wanted))
            ends = [each for each in rows if each.endswith(f"/{wanted}")]
            found += [FileLocation(checkout.repo, checkout.root, each) for each in ends]
            inner = sorted(each for each in rows if each.startswith(f"{wanted}/"))
            below += [view.shown(checkout.repo, each) for each in inner]
        if exact:
            return min(exact, key=lambda each: len(view.shown(each.repo, each.path)))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(view.shown(each.repo, each.path) for each in found[:SUGGESTIONS])
            raise InvalidInput("path", f"{path} is the end of {len(found)} paths: {names}")
        if below:
            names = ", ".join(below[:SUGGESTIONS])
            raise InvalidInput("path", f"{path} is a folder of {len(below)} files: {names} …")
        if left_out := await self._left_out(view, inside):
            names = " or ".join(f"repo={repo!r}" for repo in left_out[:SUGGESTIONS])
            raise InvalidInput("path", f"{path} is in no repository of this call; give {names}")
        raise InvalidInput(
            "path", f"{path} is not indexed; qdrant_index, or `ctx index`, brings new files in"
        )

    async def _left_out(self, view: View, inside: Mapping[str, str]) -> list[str]:
        """Return the repos that a call leaves out and that have one of the paths."""
        every = await self._indexed.checkouts(view, (ALL_REPOS,))
        here = {each.repo for each in await self._indexed.checkouts(view, view.repos)}
        others = [each for each in every if each.repo not in here and each.repo in inside]
        return [e.repo for e in others if await self._indexed.rows(e, [inside[e.repo]])]

    async def outline(self, file: FileLocation) -> list[DefinitionLocation]:
        """List the definitions of a file. Raises InvalidInput where it cannot be read."""
        return await DISK.run(outline_of, self._texts, file)

    async def lines(self, file: FileLocation, start_line: int, end_line: int | None) -> Lines:
        """Read lines of a file. Raises InvalidInput for lines that are not there."""
        return await DISK.run(lines_of, self._texts, file, start_line, end_line)

    async def constants(self, of: DefinitionLocation, code: str) -> list[str]:
        """Return numbered lines of the file that define constants which the code uses."""
        return await DISK.run(_constants, self._texts, of, code)

    async def line_texts(
        self, view: View, repo: str, places: Sequence[tuple[str, int]]
    ) -> list[str | None]:
        """Read single lines by path and number; None for a line that is gone."""
        root = view.roots.get(repo)
        if root is None:
            return [None] * len(places)
        return await DISK.run(_line_texts, self._texts, root, places)

    async def changed(self, view: View, repo: str, paths: Collection[str]) -> set[str]:
        """Return the paths whose files differ from the indexed ones, or are gone."""
        for checkout in view.checkouts:
            if checkout.repo == repo:
                rows = await self._indexed.rows(checkout, paths)
                known = {path: rows[path].blob if path in rows else "" for path in paths}
                return await DISK.run(_changed, self._texts, checkout.root, known)
        return set()

    async def tests(self, view: View, repo: str, paths: Collection[str]) -> LineSpans:
        """Return the lines of files that were indexed as tests."""
        return await self._indexed.tests(view, repo, paths)

    async def parsed(self, view: View, files: Collection[File]) -> dict[File, ParsedFile]:
        """Read and parse files; a file that is gone is left out."""
        return await DISK.run(_parsed, self._texts, view.roots, files)


def _constants(texts: FileTexts, of: DefinitionLocation, code: str) -> list[str]:
    rows = Rows(require_file(texts, of.file).rows())
    return constant_lines(rows, code, of.start_line, of.end_line)


def _line_texts(
    texts: FileTexts, root: Path, places: Sequence[tuple[str, int]]
) -> list[str | None]:
    rows: dict[str, list[str]] = {}
    for path in {path for path, _ in places}:
        file = texts.read_redacted(root, path)
        rows[path] = file.rows() if file else []
    return [rows[path][line - 1] if 0 < line <= len(rows[path]) else None for path, line in places]


def _changed(texts: FileTexts, root: Path, blobs: Mapping[str, str]) -> set[str]:
    read = {path: texts.read(root, path) for path in blobs}
    return {path for path, file in read.items() if file is None or file.blob != blobs[path]}


def _parsed(
    texts: FileTexts, roots: Mapping[str, Path], files: Collection[File]
) -> dict[File, ParsedFile]:
    found = {}
    for repo, path in files:
        root = roots.get(repo)
        file = texts.read_redacted(root, path) if root is not None else None
        if root is not None and file is not None:
            parsed = texts.outline(root, path, file)
            documented = frozenset(row + 1 for row in parsed.references.comment_rows)
            found[repo, path] = ParsedFile(file.rows(), parsed.definitions, documented)
    return found
