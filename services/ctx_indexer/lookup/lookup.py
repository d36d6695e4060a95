"""Exact look-ups in the checkouts of a collection: strings, definitions by name, files."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from ctx_core.blocking import DISK
from ctx_core.errors import InvalidInput
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.types import Filter, Match, MatchAny
from ctx_indexer.indexing.checkouts import choose_checkouts
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.lookup.exact import ExactResult, Source, exact_search
from ctx_indexer.lookup.located import LocatedHits, locate_hits
from ctx_indexer.lookup.pattern import Pattern
from ctx_indexer.lookup.reader import (
    DefinitionLocation,
    FileLocation,
    FoundNames,
    Lines,
    definitions_named,
    lines_of,
    outline_of,
    require_file,
)
from ctx_indexer.lookup.scope import PathScope
from ctx_indexer.lookup.selection import selected_paths
from ctx_indexer.lookup.texts import FileTexts
from ctx_indexer.lookup.written_name import (
    name_parts,
    split_name,
    without_type_arguments,
)
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.rows import ManifestRow
from ctx_indexer.schema import fields
from ctx_indexer.schema.payload import decode
from ctx_indexer.schema.versions import without_versions
from ctx_indexer.search.constants import constant_lines
from ctx_indexer.search.filters import ALL_REPOS, SearchFilters
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.searcher import SearchHit
from ctx_indexer.search.snippet import Rows
from ctx_indexer.syntax.definitions import Definition

MAX_PARSED_FILES = 60  # files that define one name; more of them need a qualified one
MAX_DEFINING_FILES = 5_000  # looked at for the first parts of a qualified name
MAX_SYMBOLS = 50_000  # names of a collection compared with one that was not found
MAX_TEST_CHUNKS = 500  # read to tell the tests among callers
SUGGESTIONS = 5
SIMILAR_ENOUGH = 0.75


@dataclass(frozen=True)
class ParsedFile:
    """The lines of a file, its definitions, and the numbers of its comment and docstring lines."""

    rows: Sequence[str]
    definitions: Sequence[Definition]
    documented: frozenset[int]


class Lookup:
    """Looks up strings, names and lines in the files that a collection was indexed from."""

    def __init__(
        self,
        indexer: Indexer,
        store: VectorStore,
        texts: FileTexts,
        workspace: Path | None = None,
        host_folder: str | None = None,
    ) -> None:
        """`workspace` is the folder that paths are relative to, `host_folder` its name outside."""
        self._workspace = workspace
        self._host_folder = host_folder
        self._indexer = indexer
        self._store = store
        self._texts = texts

    async def scope(self, collection: str, places: Sequence[str] = ()) -> PathScope:
        """Return how paths of the collection's repos are shown to callers and read from them.

        Of each repo one checkout is meant: that of the folders or files that the caller names, else
        that of the workspace, else the main one. Raises InvalidInput for two of one repo.
        """
        checkouts = await self._indexer.checkouts.of(collection)
        bare = PathScope({}, self._workspace, self._host_folder)
        named = [place for each in places if (place := bare.place(each)) is not None]
        chosen = choose_checkouts(checkouts, self._workspace, named)
        return replace(
            bare,
            roots={each.repo: each.root for each in chosen},
            hidden=await self._indexer.checkouts.hidden(chosen),
            checkouts=tuple(each.id for each in chosen),
        )

    async def search(
        self,
        collection: str,
        pattern: Pattern,
        filters: SearchFilters,
        limit: int,
        offset: int,
        role: str | None = None,
        admits: Callable[[str], bool] | None = None,
    ) -> ExactResult:
        """Find every line that matches, of one role or any, in the paths that `admits` accepts.

        Raises InvalidInput for filters that are wrong.
        """
        sources = []
        for checkout, rows in await self._files(collection, filters):
            paths = await DISK.run(selected_paths, rows, filters, checkout.repo)
            kept = paths if admits is None else [path for path in paths if admits(path)]
            sources.append(Source(checkout.repo, checkout.root, kept))
        return await DISK.run(exact_search, self._texts, sources, pattern, limit, offset, role)

    async def definitions(
        self,
        collection: str,
        name: str,
        filters: SearchFilters,
        field: str = "name",
        first: Callable[[FileLocation], bool] = lambda _: False,
    ) -> FoundNames:
        """Find the definitions of a plain or qualified name; `first` files are read before others.

        Raises InvalidInput of the field, with similar names where there is none.
        """
        parts = name_parts(name)
        if not parts:
            raise InvalidInput(field, "is empty; give the name of a definition")
        files = await self.defining_files(collection, parts, filters)
        read = sorted(files, key=first, reverse=True)[:MAX_PARSED_FILES]
        found = await DISK.run(definitions_named, self._texts, read, name)
        bare = without_type_arguments(name)
        is_bare = bare == name or not name_parts(bare)
        if not is_bare and (found.is_nearest or not found.meant):
            return await self.definitions(collection, bare, filters, field, first)
        if found.meant:
            return replace(found, more_files=len(files) - len(read))
        similar = await self._similar(collection, parts[-1], filters)
        raise InvalidInput(
            field,
            f"no indexed file defines {name!r}"
            + (f"; similar names: {', '.join(similar)}" if similar else "")
            + ". exact_search finds every mention of a string.",
            suggestions=similar,
        )

    async def file(self, collection: str, path: str, repos: Sequence[str]) -> FileLocation:
        """Find an indexed file by its path, whole or its end.

        Raises InvalidInput where no file or several have it.
        """
        scope = await self.scope(collection, [path])
        inside = dict(scope.located(path))
        exact: list[FileLocation] = []
        found: list[FileLocation] = []
        below: list[str] = []
        within = SearchFilters(repos=tuple(repos), checkouts=scope.checkouts)
        for checkout, rows in await self._files(collection, within):
            wanted = inside.get(checkout.repo)
            if wanted is None:
                continue
            if wanted in rows:
                exact.append(FileLocation(checkout.repo, checkout.root, wanted))
            ends = [each for each in rows if each.endswith(f"/{wanted}")]
            found += [FileLocation(checkout.repo, checkout.root, each) for each in ends]
            inner = sorted(each for each in rows if each.startswith(f"{wanted}/"))
            below += [scope.shown(checkout.repo, each) for each in inner]
        if exact:
            return min(exact, key=lambda each: len(scope.shown(each.repo, each.path)))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(scope.shown(each.repo, each.path) for each in found[:SUGGESTIONS])
            raise InvalidInput("path", f"{path} is the end of {len(found)} paths: {names}")
        if below:
            names = ", ".join(below[:SUGGESTIONS])
            raise InvalidInput("path", f"{path} is a folder of {len(below)} files: {names} …")
        raise InvalidInput(
            "path", f"{path} is not indexed; qdrant_index, or `ctx index`, brings new files in"
        )

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
        self,
        collection: str,
        repo: str,
        places: Sequence[tuple[str, int]],
        filters: SearchFilters | None = None,
    ) -> list[str | None]:
        """Read single lines by path and number, without secrets; None for those that are gone."""
        roots = await self._roots(collection, filters or SearchFilters())
        root = roots.get(repo)
        if root is None:
            return [None] * len(places)
        return await DISK.run(_line_texts, self._texts, root, places)

    async def changed(
        self, collection: str, repo: str, paths: Collection[str], filters: SearchFilters
    ) -> set[str]:
        """Return the paths whose files differ from what was indexed, or are gone."""
        checkouts = [e for e in await self._checkouts(collection, filters) if e.repo == repo]
        if not checkouts:
            return set()
        rows = await self._indexer.checkouts.files(checkouts[0], paths)
        known = {path: rows[path].blob if path in rows else "" for path in paths}
        return await DISK.run(_changed, self._texts, checkouts[0].root, known)

    async def parsed(
        self,
        collection: str,
        files: Collection[tuple[str, str]],
        filters: SearchFilters | None = None,
    ) -> dict[tuple[str, str], ParsedFile]:
        """Read and parse files by repo and path; those that are gone are left out."""
        roots = await self._roots(collection, filters or SearchFilters())
        return await DISK.run(_parsed, self._texts, roots, files)

    async def locate(
        self,
        collection: str,
        hits: Sequence[SearchHit],
        query: ParsedQuery,
        filters: SearchFilters,
        per_path: int,
    ) -> LocatedHits:
        """Find the definitions that hits mean, and their lines on disk; equal ones are one."""
        roots = await self._roots(collection, filters)
        return await DISK.run(locate_hits, self._texts, roots, hits, query, filters, per_path)

    async def test_lines(
        self, collection: str, repo: str, paths: Collection[str], scope: PathScope
    ) -> list[tuple[str, int, int]]:
        """Return path, first and last line of the chunks of some files that are tests."""
        files = fields.files_filter(repo, sorted(paths))
        tests = Filter(must=[files, Match(fields.IS_TEST, True)])
        page, _ = await self._store.scroll(
            collection, where=scope.viewed(tests), limit=MAX_TEST_CHUNKS
        )
        chunks = [decode(record.payload) for record in page]
        return [(each.path, each.start_line, each.end_line) for each in chunks]

    async def present(
        self, collection: str, files: Sequence[tuple[str, str]], filters: SearchFilters
    ) -> int:
        """Count the files, by repo and path, that are not known to be gone."""
        roots = await self._roots(collection, filters)
        return await DISK.run(_count_present, roots, files)

    async def _checkouts(self, collection: str, filters: SearchFilters) -> list[Checkout]:
        """Return the checkouts that filters are about: one of each repo."""
        found = await self._indexer.checkouts.of(collection)
        meant = [each for each in found if each.id in filters.checkouts]
        return meant or choose_checkouts(found, self._workspace)

    async def _roots(self, collection: str, filters: SearchFilters) -> dict[str, Path]:
        return {each.repo: each.root for each in await self._checkouts(collection, filters)}

    async def _files(
        self, collection: str, filters: SearchFilters
    ) -> list[tuple[Checkout, dict[str, ManifestRow]]]:
        """Return the checkouts of the repos with their indexed files."""
        chosen = await self._chosen(collection, filters)
        return [(each, await self._indexer.checkouts.files(each)) for each in chosen]

    async def _chosen(self, collection: str, filters: SearchFilters) -> list[Checkout]:
        """Return the checkouts of the repos that filters name.

        Raises CollectionNotFound for a collection that is not there, InvalidInput for a repo.
        """
        await self._store.collection_info(collection)
        checkouts = await self._checkouts(collection, filters)
        repos = filters.repos
        chosen = [
            each for each in checkouts if not repos or ALL_REPOS in repos or each.repo in repos
        ]
        if not chosen:
            names = ", ".join(each.repo for each in checkouts) or "none"
            raise InvalidInput("repo", f"{', '.join(repos)} is not indexed; indexed are: {names}")
        return chosen

    async def defining_files(
        self, collection: str, parts: Sequence[str], filters: SearchFilters
    ) -> list[FileLocation]:
        """Return the files whose chunks define the last part of a name, by the index.

        Of a qualified name, those that define the part before it as well, or have it in their path;
        all where none does. Raises as `search`.
        """
        located: list[FileLocation] = []
        for checkout in await self._chosen(collection, filters):
            paths = await self._defining_paths(collection, checkout, parts[-1])
            if len(parts) > 1:
                outer = parts[-2].lower()
                around = await self._defining_paths(collection, checkout, outer)
                folder = checkout.root.name.lower()
                paths = {
                    path
                    for path in paths
                    if path in around or outer in (folder, *split_name(path.lower()))
                } or paths
            rows = await self._indexer.checkouts.files(checkout, sorted(paths)) if paths else {}
            located += [
                FileLocation(checkout.repo, checkout.root, path)
                for path in selected_paths(rows, filters, checkout.repo)
            ]
        return located

    async def _defining_paths(self, collection: str, checkout: Checkout, name: str) -> set[str]:
        defines = Filter(
            must=[Match(fields.REPO, checkout.repo), MatchAny(fields.SYMBOLS, [name.lower()])]
        )
        where = without_versions(defines, await self._indexer.checkouts.hidden([checkout]))
        counts = await self._store.facet(
            collection, fields.PATH, where=where, limit=MAX_DEFINING_FILES
        )
        return {str(each.value) for each in counts}

    async def _similar(self, collection: str, name: str, filters: SearchFilters) -> list[str]:
        checkouts = await self._checkouts(collection, filters)
        of_repos = [repo for repo in filters.repos if repo != ALL_REPOS]
        asked = Filter(must=[MatchAny(fields.REPO, of_repos)]) if of_repos else None
        where = without_versions(asked, await self._indexer.checkouts.hidden(checkouts))
        counts = await self._store.facet(collection, fields.SYMBOLS, where=where, limit=MAX_SYMBOLS)
        known = [str(each.value) for each in counts]
        lower = name.lower()
        near = [each for each in known if lower in each]
        close = await DISK.run(get_close_matches, lower, near or known, SUGGESTIONS, SIMILAR_ENOUGH)
        return list(dict.fromkeys([*close, *near]))[:SUGGESTIONS]


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
    texts: FileTexts, roots: Mapping[str, Path], files: Collection[tuple[str, str]]
) -> dict[tuple[str, str], ParsedFile]:
    found = {}
    for repo, path in files:
        root = roots.get(repo)
        file = texts.read_redacted(root, path) if root is not None else None
        if root is not None and file is not None:
            parsed = texts.outline(root, path, file)
            documented = frozenset(row + 1 for row in parsed.references.comment_rows)
            found[repo, path] = ParsedFile(file.rows(), parsed.definitions, documented)
    return found


def _count_present(roots: Mapping[str, Path], files: Sequence[tuple[str, str]]) -> int:
    """Count the files that are there; of a repo without a checkout here, all of them."""
    checked = {repo: root for repo, root in roots.items() if root.is_dir()}
    return sum(repo not in checked or os.path.lexists(checked[repo] / path) for repo, path in files)
