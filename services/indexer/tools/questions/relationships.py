"""What found definitions import and call, and the files that define what they call."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from typing_extensions import TypedDict

from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import Filter, Match, MatchAny
from services.indexer.lookup.located import Located
from services.indexer.lookup.scope import PathScope
from services.indexer.schema import fields
from services.indexer.schema.payload import ChunkPayload, decode
from services.indexer.search.searcher import SearchHit

MAX_IMPORTS, MAX_CALLS, MAX_PATHS = 10, 10, 5  # that are told of one definition
MAX_CHUNKS = 1_000  # read for one answer

File = tuple[str, str]  # a repo, and a path in it


class Relationships(TypedDict):
    """What a definition's file imports, what it calls, and files that define one of these."""

    imports_from: list[str]
    calls: list[str]
    symbol_path: str
    related_paths: list[str]


class RelationshipReader:
    """Reads the relationships of hits from what is indexed of their files."""

    def __init__(self, store: VectorStore, collection: str, scope: PathScope) -> None:
        self._store = store
        self._collection = collection
        self._scope = scope

    async def read(self, hits: Sequence[tuple[SearchHit, Located]]) -> list[Relationships]:
        """Return the relationships of each hit; a name that several files define tells none."""
        files = {(hit.chunk.repo, hit.chunk.path) for hit, _ in hits}
        chunks = await self._chunks(files)
        imports = {file: _names(_imports(chunks.get(file, ())), MAX_IMPORTS) for file in files}
        calls = [_calls(hit, place, chunks) for hit, place in hits]
        homes = await self._homes({hit.chunk.repo for hit, _ in hits}, calls, imports.values())
        return [
            {
                "imports_from": imports[hit.chunk.repo, hit.chunk.path],
                "calls": called,
                "symbol_path": place.span.symbol,
                "related_paths": self._related(hit.chunk, called, imports, homes),
            }
            for (hit, place), called in zip(hits, calls, strict=True)
        ]

    async def _chunks(self, files: Iterable[File]) -> dict[File, list[ChunkPayload]]:
        found: dict[File, list[ChunkPayload]] = defaultdict(list)
        by_repo: dict[str, list[str]] = defaultdict(list)
        for repo, path in files:
            by_repo[repo].append(path)
        for repo, paths in by_repo.items():
            where = self._scope.viewed(fields.files_filter(repo, sorted(paths)))
            records, _ = await self._store.scroll(self._collection, where=where, limit=MAX_CHUNKS)
            for chunk in (decode(record.payload) for record in records):
                found[repo, chunk.path].append(chunk)
        return found

    async def _homes(
        self,
        repos: Iterable[str],
        calls: Iterable[Sequence[str]],
        imports: Iterable[Sequence[str]],
    ) -> dict[tuple[str, str], set[str]]:
        """Return the files that define each name, by repo and name in lower case."""
        names = sorted({_last(name) for group in (*calls, *imports) for name in group})
        homes: dict[tuple[str, str], set[str]] = defaultdict(set)
        if not names:
            return homes
        for repo in repos:
            defines = Filter(must=[Match(fields.REPO, repo), MatchAny(fields.SYMBOLS, names)])
            where = self._scope.viewed(defines)
            records, _ = await self._store.scroll(self._collection, where=where, limit=MAX_CHUNKS)
            for chunk in (decode(record.payload) for record in records):
                for name in set(names).intersection(chunk.symbols):
                    homes[repo, name].add(chunk.path)
        return homes

    def _related(
        self,
        chunk: ChunkPayload,
        calls: Sequence[str],
        imports: Mapping[File, Sequence[str]],
        homes: Mapping[tuple[str, str], set[str]],
    ) -> list[str]:
        names = [*calls, *imports[chunk.repo, chunk.path]]
        defining = [homes.get((chunk.repo, _last(name)), set()) for name in names]
        paths = [next(iter(each)) for each in defining if len(each) == 1]
        others = [path for path in dict.fromkeys(paths) if path != chunk.path]
        return [self._scope.shown(chunk.repo, path) for path in others[:MAX_PATHS]]


def _imports(chunks: Iterable[ChunkPayload]) -> list[tuple[int, str]]:
    return sorted((each.line, each.name) for chunk in chunks for each in chunk.imports)


def _calls(
    hit: SearchHit, place: Located, chunks: Mapping[File, Sequence[ChunkPayload]]
) -> list[str]:
    """Return what a definition calls, by the lines that it had when it was indexed."""
    span = hit.chunk if place.changed else place.span
    found = [
        (each.line, each.name)
        for chunk in chunks.get((hit.chunk.repo, hit.chunk.path), ())
        for each in chunk.calls
        if span.start_line <= each.line <= span.end_line
    ]
    return _names(sorted(found), MAX_CALLS)


def _names(found: Iterable[tuple[int, str]], count: int) -> list[str]:
    return list(dict.fromkeys(name for _, name in found))[:count]


def _last(name: str) -> str:
    """Return the last part of a dotted name or path, as symbols are indexed."""
    for separator in ("::", "/", "\\"):
        name = name.replace(separator, ".")
    return name.rpartition(".")[2].lower()
