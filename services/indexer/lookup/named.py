"""The definitions of a name, as the graph knows them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.core.vectors.protocol import VectorStore
from services.indexer.graph.graph import GraphDefinition, SymbolGraph
from services.indexer.lookup.lookup import Lookup
from services.indexer.lookup.reader import DefinitionLocation, FileLocation, split_name
from services.indexer.search.filters import SearchFilters
from services.indexer.source.languages import language_of
from services.indexer.syntax.symbols.specs import SPECS


@dataclass(frozen=True)
class NamedInRepo:
    """What a repo defines under a name.

    `definitions` are the functions and classes that the graph knows; `by_name` are those of
    languages that it does not resolve, `values` what is neither function nor class.
    """

    repo: str
    graph: SymbolGraph
    definitions: Sequence[GraphDefinition] = ()
    by_name: Sequence[DefinitionLocation] = field(default=())
    values: Sequence[DefinitionLocation] = field(default=())


class NamedDefinitions:
    """Finds the definitions of a name in the repos of a collection."""

    def __init__(self, lookup: Lookup, store: VectorStore) -> None:
        self._lookup = lookup
        self._store = store

    async def find(self, collection: str, name: str, filters: SearchFilters) -> list[NamedInRepo]:
        """Find the definitions of a plain or qualified name, repo by repo.

        No file is parsed where the graph knows them all. Raises InvalidInput with similar names
        where nothing has the name.
        """
        parts = split_name(name)
        files = await self._lookup.defining_files(collection, parts[-1], filters) if parts else []
        found: list[NamedInRepo] = []
        if all(_is_resolved(each.path) for each in files):
            for repo in sorted({each.repo for each in files}):
                graph = SymbolGraph(self._store, collection, repo, filters.hidden)
                known = await graph.definitions(parts, _paths(files, repo))
                found += [NamedInRepo(repo, graph, known)] if known else []
        return found or await self._located(collection, name, filters)

    async def _located(
        self, collection: str, name: str, filters: SearchFilters
    ) -> list[NamedInRepo]:
        """Find the definitions in the files themselves, also by the packages around a name."""
        located = (await self._lookup.definitions(collection, name, filters, "query")).every
        found = []
        for repo in sorted({each.file.repo for each in located}):
            graph = SymbolGraph(self._store, collection, repo, filters.hidden)
            own = [each for each in located if each.file.repo == repo]
            known: dict[tuple[str, int], GraphDefinition] = {}
            values: list[DefinitionLocation] = []
            for each in own:
                if _is_resolved(each.file.path):
                    lines = range(each.start_line, each.end_line + 1)
                    last = split_name(each.symbol)[-1]
                    same = await graph.definitions_at(each.file.path, last, lines)
                    known |= {(one.path, one.start_line): one for one in same}
                    values += [] if same else [each]
            by_name = [each for each in own if not _is_resolved(each.file.path)]
            definitions = [known[key] for key in sorted(known)]
            found.append(NamedInRepo(repo, graph, definitions, by_name, values))
        return found


def _paths(files: Sequence[FileLocation], repo: str) -> list[str]:
    return sorted({each.path for each in files if each.repo == repo})


def _is_resolved(path: str) -> bool:
    return language_of(path) in SPECS
