"""The imports and calls of found definitions, and the files that define them."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.graph.graph import SymbolGraph
from ctx_indexer.lookup.located import Located
from ctx_indexer.lookup.written_name import split_name
from ctx_indexer.schema import fields
from ctx_indexer.schema.payload import ChunkPayload, decode
from ctx_indexer.search.searcher import SearchHit
from ctx_indexer.view.view import View

MAX_IMPORTS, MAX_CALLS, MAX_PATHS = 10, 10, 5  # that are told of one definition
MAX_CHUNKS = 1_000  # read for one answer
SECONDS = 0.5  # of following names to files for one answer

File = tuple[str, str]  # a repo, and a path in it


class Relationships(TypedDict):
    """The imports of a definition's file, its calls, and files that define one of these."""

    imports_from: list[str]
    calls: list[str]
    symbol_path: str
    related_paths: list[str]
    degraded: NotRequired[str]


class RelationshipReader:
    """Reads the relationships of hits: names from their chunks, files by the graph."""

    def __init__(self, store: VectorStore, view: View) -> None:
        self._store = store
        self._view = view
        self._deadline = time.monotonic() + SECONDS

    async def read(self, hits: Sequence[tuple[SearchHit, Located]]) -> list[Relationships]:
        """Return the relationships of each hit; none of the files where the time is over."""
        chunks = await self._chunks({(hit.chunk.repo, hit.chunk.path) for hit, _ in hits})
        graphs: dict[str, SymbolGraph] = {}
        found: list[Relationships] = []
        for hit, place in hits:
            repo, path = hit.chunk.repo, hit.chunk.path
            graph = graphs.setdefault(repo, SymbolGraph(self._store, self._view, repo))
            each: Relationships = {
                "imports_from": _names(_imports(chunks.get((repo, path), ())), MAX_IMPORTS),
                "calls": _calls(hit, place, chunks),
                "symbol_path": place.span.symbol,
                "related_paths": [],
            }
            if time.monotonic() < self._deadline:
                each["related_paths"] = await self._related(graph, hit, place)
            else:
                each["degraded"] = f"files are not followed beyond {SECONDS} s"
            found.append(each)
        return found

    async def _related(self, graph: SymbolGraph, hit: SearchHit, place: Located) -> list[str]:
        """Return the files that define the calls and imports of a hit, by the graph."""
        span, path = hit.chunk if place.changed else place.span, hit.chunk.path
        parts = split_name(place.span.symbol)
        lines = range(span.start_line, span.end_line + 1)
        for definition in await graph.definitions_at(path, parts[-1], lines) if parts else []:
            paths = await graph.related_files(definition)
            return [self._view.shown(hit.chunk.repo, each) for each in paths[:MAX_PATHS]]
        return []

    async def _chunks(self, files: Iterable[File]) -> dict[File, list[ChunkPayload]]:
        found: dict[File, list[ChunkPayload]] = defaultdict(list)
        by_repo: dict[str, list[str]] = defaultdict(list)
        for repo, path in files:
            by_repo[repo].append(path)
        for repo, paths in by_repo.items():
            where = self._view.narrowed(fields.files_filter(repo, sorted(paths)))
            records, _ = await self._store.scroll(
                self._view.collection, where=where, limit=MAX_CHUNKS
            )
            for chunk in (decode(record.payload) for record in records):
                found[repo, chunk.path].append(chunk)
        return found


def _imports(chunks: Iterable[ChunkPayload]) -> list[tuple[int, str]]:
    return sorted((each.line, each.name) for chunk in chunks for each in chunk.imports)


def _calls(
    hit: SearchHit, place: Located, chunks: Mapping[File, Sequence[ChunkPayload]]
) -> list[str]:
    """Return the calls of a definition, by the lines that it had when it was indexed."""
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
