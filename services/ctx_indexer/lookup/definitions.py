"""Finds definitions by their names: the index names the files, the files have the definitions."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches

from ctx_core.blocking import DISK
from ctx_core.errors import InvalidInput
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match, MatchAny
from ctx_indexer.lookup.reader import FileLocation, FoundNames, definitions_named
from ctx_indexer.lookup.selection import IndexedFiles, selected_paths
from ctx_indexer.lookup.texts import FileTexts
from ctx_indexer.lookup.written_name import name_parts, split_name, without_type_arguments
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.schema import fields
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.view.view import ALL_REPOS, View

MAX_PARSED_FILES = 60  # files that are parsed for one name; of more, a qualified name says which
MAX_DEFINING_FILES = 5_000  # files that are listed for one part of a qualified name
MAX_SYMBOLS = 50_000  # names of a collection that are compared with one that was not found
SUGGESTIONS = 5
SIMILAR_ENOUGH = 0.75


class Definitions:
    """Finds the definitions of a name in the files of a view."""

    def __init__(self, indexed: IndexedFiles, store: VectorStore, texts: FileTexts) -> None:
        self._indexed = indexed
        self._store = store
        self._texts = texts

    async def find(
        self,
        view: View,
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
        files = await self.files(view, parts, filters)
        read = sorted(files, key=first, reverse=True)[:MAX_PARSED_FILES]
        found = await DISK.run(definitions_named, self._texts, read, name)
        bare = without_type_arguments(name)
        is_bare = bare == name or not name_parts(bare)
        if not is_bare and (found.is_nearest or not found.meant):
            return await self.find(view, bare, filters, field, first)
        if found.meant:
            return replace(found, more_files=len(files) - len(read))
        similar = await self._similar(view, parts[-1], filters)
        raise InvalidInput(
            field,
            f"no indexed file defines {name!r}"
            + (f"; similar names: {', '.join(similar)}" if similar else "")
            + ". exact_search finds every mention of a string.",
            suggestions=similar,
        )

    async def files(
        self, view: View, parts: Sequence[str], filters: SearchFilters
    ) -> list[FileLocation]:
        """Return the files whose chunks define the last part of a name, by the index.

        A qualified name keeps the files that also define the part before it or have it in their
        path: `Pool.take` → the files of `take` with a `Pool`; all of `take` where there is none.
        Raises CollectionNotFound, or InvalidInput for an unknown repo.
        """
        located: list[FileLocation] = []
        for checkout in await self._indexed.checkouts(view, filters.repos):
            paths = await self._defining_paths(view, checkout, parts[-1])
            if len(parts) > 1:
                outer = parts[-2].lower()
                around = await self._defining_paths(view, checkout, outer)
                folder = checkout.root.name.lower()
                paths = {
                    path
                    for path in paths
                    if path in around or outer in (folder, *split_name(path.lower()))
                } or paths
            rows = await self._indexed.rows(checkout, sorted(paths)) if paths else {}
            located += [
                FileLocation(checkout.repo, checkout.root, path)
                for path in selected_paths(rows, filters, view, checkout.repo)
            ]
        return located

    async def _defining_paths(self, view: View, checkout: Checkout, name: str) -> set[str]:
        defines = Filter(
            must=[Match(fields.REPO, checkout.repo), MatchAny(fields.SYMBOLS, [name.lower()])]
        )
        counts = await self._store.facet(
            view.collection, fields.PATH, where=view.narrowed(defines), limit=MAX_DEFINING_FILES
        )
        return {str(each.value) for each in counts}

    async def _similar(self, view: View, name: str, filters: SearchFilters) -> list[str]:
        of_repos = [repo for repo in filters.repos if repo != ALL_REPOS]
        asked = Filter(must=[MatchAny(fields.REPO, of_repos)]) if of_repos else None
        counts = await self._store.facet(
            view.collection, fields.SYMBOLS, where=view.narrowed(asked), limit=MAX_SYMBOLS
        )
        known = [str(each.value) for each in counts]
        lower = name.lower()
        near = [each for each in known if lower in each]
        close = await DISK.run(get_close_matches, lower, near or known, SUGGESTIONS, SIMILAR_ENOUGH)
        return list(dict.fromkeys([*close, *near]))[:SUGGESTIONS]
