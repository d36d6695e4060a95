"""The indexed files of a view that the filters of a question admit."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from ctx_core.blocking import DISK
from ctx_core.errors import InvalidInput
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.files import FileTable
from ctx_indexer.manifest.rows import ManifestRow
from ctx_indexer.schema import fields
from ctx_indexer.schema.payload import decode
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.globs import match_globs
from ctx_indexer.source.walk import is_under
from ctx_indexer.view.view import ALL_REPOS, View

MAX_TEST_CHUNKS = 5_000  # chunks of tests whose lines are read for one question
PAGE = 500
LineSpans = Mapping[str, Sequence[tuple[int, int]]]  # the first and last lines of spans, by path


class IndexedFiles:
    """Lists the files that the checkouts of a view were indexed with."""

    def __init__(self, files: FileTable, store: VectorStore) -> None:
        self._files = files
        self._store = store

    async def checkouts(self, view: View, repos: Sequence[str]) -> list[Checkout]:
        """Return the checkouts of repos, all where none is named.

        Raises CollectionNotFound for a collection that is not there, InvalidInput for a repo.
        """
        await self._store.collection_info(view.collection)
        every = not repos or ALL_REPOS in repos
        chosen = [each for each in view.checkouts if every or each.repo in repos]
        if not chosen:
            names = ", ".join(each.repo for each in view.checkouts) or "none"
            raise InvalidInput("repo", f"{', '.join(repos)} is not indexed; indexed are: {names}")
        return chosen

    async def rows(
        self, checkout: Checkout, paths: Collection[str] | None = None
    ) -> dict[str, ManifestRow]:
        """Return the files of a checkout by path: all, or `paths` of them."""
        return await self._files.of(checkout, paths)

    async def selected(
        self, view: View, filters: SearchFilters
    ) -> list[tuple[Checkout, list[str]]]:
        """Return the paths that filters admit, checkout by checkout. Raises as `checkouts`."""
        found = []
        for checkout in await self.checkouts(view, filters.repos):
            rows = await self.rows(checkout)
            paths = await DISK.run(selected_paths, rows, filters, view, checkout.repo)
            found.append((checkout, paths))
        return found

    async def tests(self, view: View, repo: str, paths: Collection[str]) -> LineSpans:
        """Return the lines of files that were indexed as tests."""
        files = fields.files_filter(repo, sorted(paths))
        where = view.narrowed(Filter(must=[files, Match(fields.IS_TEST, True)]))
        found: dict[str, list[tuple[int, int]]] = {}
        offset: str | None = None
        for _ in range(0, MAX_TEST_CHUNKS, PAGE):
            records, offset = await self._store.scroll(
                view.collection, where=where, limit=PAGE, offset=offset
            )
            for chunk in (decode(record.payload) for record in records):
                found.setdefault(chunk.path, []).append((chunk.start_line, chunk.end_line))
            if offset is None:
                break
        return found


def is_within(line: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether a line is in one of the spans."""
    return any(first <= line <= last for first, last in spans)


def selected_paths(
    rows: Mapping[str, ManifestRow], filters: SearchFilters, view: View, repo: str
) -> list[str]:
    """Return the paths of a repo that the filters admit, in order. Raises InvalidInput."""
    languages = {name.lower() for name in filters.languages}
    endings = {ending.lower().lstrip(".") for ending in filters.exts}
    folders = [_folder(each) for each in filters.under]
    if filters.folders:
        folders = [folder for name, folder in filters.folders if name == repo]
        if not folders:
            return []
    paths = [
        path
        for path, row in rows.items()
        if (not languages or row.language in languages)
        and (not endings or PurePosixPath(path).suffix.lower().lstrip(".") in endings)
        and (not folders or any(is_under(path, each) or path == each for each in folders))
    ]
    if filters.has_patterns:
        shown = view.paths.shown_folders().get(repo, "")
        paths = match_globs(paths, filters.path_globs, filters.not_globs, shown)
    return sorted(paths)


def _folder(given: str) -> str:
    cleaned = given.strip().replace("\\", "/").strip("/").removeprefix("./")
    if ".." in cleaned.split("/"):
        raise InvalidInput("under", "must not contain '..'")
    return "" if cleaned == "." else cleaned
