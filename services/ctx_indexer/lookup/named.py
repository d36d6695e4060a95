"""The definitions of a name in the repos of a view, as the graph knows them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctx_core.errors import InvalidInput
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.graph.graph import GraphDefinition, SymbolGraph
from ctx_indexer.languages.registry import language_named
from ctx_indexer.lookup.definitions import MAX_PARSED_FILES, SUGGESTIONS, Definitions
from ctx_indexer.lookup.reader import DefinitionLocation, FileLocation
from ctx_indexer.lookup.written_name import name_parts, split_name
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.source.languages import language_of
from ctx_indexer.view.view import View


@dataclass(frozen=True)
class NamedInRepo:
    """The definitions of a name in one repo.

    `definitions` are the functions and classes that the graph knows, `values` are constants and
    fields. `by_name` are definitions in languages that the graph does not resolve.
    """

    repo: str
    graph: SymbolGraph
    definitions: Sequence[GraphDefinition] = ()
    by_name: Sequence[DefinitionLocation] = field(default=())
    values: Sequence[DefinitionLocation] = field(default=())


@dataclass(frozen=True)
class FoundDefinitions:
    """The definitions of a name, repo by repo, and how many files with more were not read."""

    repos: Sequence[NamedInRepo]
    more_files: int = 0

    @property
    def problems(self) -> list[str]:
        """Why there may be more definitions."""
        if not self.more_files:
            return []
        return [f"{self.more_files} more files define this name; qualify it"]


class NamedDefinitions:
    """Finds the definitions of a name in the repos of a view."""

    def __init__(self, definitions: Definitions, store: VectorStore) -> None:
        self._definitions = definitions
        self._store = store

    async def find(self, view: View, name: str, filters: SearchFilters) -> FoundDefinitions:
        """Find the definitions of a plain or qualified name.

        No file is parsed where the graph knows them all. Raises InvalidInput with similar names
        where nothing has the name.
        """
        parts = name_parts(name)
        every = await self._definitions.files(view, parts, filters) if parts else []
        files = every[:MAX_PARSED_FILES]
        found: list[NamedInRepo] = []
        if all(_is_resolved(each.path) for each in files):
            for repo in sorted({each.repo for each in files}):
                graph = SymbolGraph(self._store, view, repo)
                known = await graph.definitions(parts, _paths(files, repo))
                found += [NamedInRepo(repo, graph, known)] if known else []
        if found:
            return FoundDefinitions(found, len(every) - len(files))
        return await self._located(view, name, filters)

    async def _located(self, view: View, name: str, filters: SearchFilters) -> FoundDefinitions:
        """Find the definitions in the files themselves, also by the packages around a name."""
        located = await self._definitions.find(view, name, filters, "query")
        if located.is_nearest:
            raise _unknown(name, located.every)
        found = []
        last = split_name(located.every[0].symbol)[-1:]
        for repo in sorted({each.file.repo for each in located.every}):
            graph = SymbolGraph(self._store, view, repo)
            own = [each for each in located.every if each.file.repo == repo]
            by_name = [each for each in own if not _is_resolved(each.file.path)]
            resolved = [each for each in own if each not in by_name]
            paths = _paths([each.file for each in resolved], repo)
            known = await graph.definitions(last, paths) if paths else []
            definitions = [one for one in known if any(_is_same(one, each) for each in resolved)]
            values = [each for each in resolved if not any(_is_same(one, each) for one in known)]
            found.append(NamedInRepo(repo, graph, definitions, by_name, values))
        return FoundDefinitions(found, located.more_files)


def _unknown(name: str, nearest: Sequence[DefinitionLocation]) -> InvalidInput:
    """Make the error for a qualified name that nothing has, though its last part is defined."""
    similar = list(dict.fromkeys(each.symbol for each in nearest))
    shown = ", ".join(similar[:SUGGESTIONS])
    more = f" and {len(similar) - SUGGESTIONS} more" if len(similar) > SUGGESTIONS else ""
    return InvalidInput(
        "query",
        f"no indexed file defines {name!r}; similar names: {shown}{more}",
        suggestions=similar[:SUGGESTIONS],
    )


def _is_same(known: GraphDefinition, located: DefinitionLocation) -> bool:
    """Whether a definition of the graph begins on the lines of one of that name on disk."""
    return (
        known.path == located.file.path
        and located.start_line <= known.start_line <= located.end_line
        and split_name(known.symbol)[-1] == split_name(located.symbol)[-1]
    )


def _paths(files: Sequence[FileLocation], repo: str) -> list[str]:
    return sorted({each.path for each in files if each.repo == repo})


def _is_resolved(path: str) -> bool:
    return language_named(language_of(path)).symbols is not None
