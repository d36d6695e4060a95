"""Retrieves the spans that may answer a question: search hits, and neighbours of its symbol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctx_core.text.excerpts import mark_terms
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.answers.inquiry import Inquiry
from ctx_indexer.answers.neighbours import Neighbours
from ctx_indexer.answers.sources import Span
from ctx_indexer.chunking.definition_spans import COMMENT
from ctx_indexer.lookup.files import File, ParsedFile, ReadFiles
from ctx_indexer.lookup.located import Located, LocatedHits
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.searcher import SearchHit
from ctx_indexer.search.snippet import best_line
from ctx_indexer.view.view import View

LATE = "what calls the asked symbol, and what it calls, could not be read in time"


@dataclass(frozen=True)
class Retrieved:
    """The spans that may answer a question, and why some may be missing."""

    spans: Sequence[Span]
    degraded: Sequence[str] = ()


class Retriever:
    """Reads the spans of hits, as they are on disk, and those around the asked symbol."""

    def __init__(self, files: ReadFiles, store: VectorStore) -> None:
        self._files = files
        self._neighbours = Neighbours(files, store)

    async def retrieve(self, inquiry: Inquiry) -> Retrieved:
        """Return the spans that may answer, the best first, neighbours of the asked symbol last."""
        files = await self._parsed(inquiry)
        found = [
            _span(hit, place, inquiry.query, inquiry.view, files)
            for hit, place in inquiry.located.hits
        ]
        try:
            return Retrieved([*found, *await self._neighbours.spans(inquiry)])
        except TimeoutError:
            return Retrieved(found, [LATE])

    async def _parsed(self, inquiry: Inquiry) -> Mapping[File, ParsedFile]:
        places = list(dict.fromkeys((hit.chunk.repo, hit.chunk.path) for hit in inquiry.hits))
        return await self._files.parsed(inquiry.view, places)


def _span(
    hit: SearchHit,
    place: Located,
    query: ParsedQuery,
    view: View,
    files: Mapping[File, ParsedFile],
) -> Span:
    chunk, definition, rows = hit.chunk, place.span, place.rows
    start = max(definition.start_line, rows.first_line)
    end = min(definition.end_line, rows.last_line)
    if not place.changed and chunk.start_line <= end and chunk.end_line >= start:
        start, end = max(start, chunk.start_line), min(end, chunk.end_line)
    text = "\n".join(rows.line(number) for number in range(start, end + 1))
    file = files.get((chunk.repo, chunk.path))
    indexed = [each for each in chunk.definitions if each.kind == COMMENT]
    documented = (
        frozenset(n for each in indexed for n in range(each.start_line, each.end_line + 1))
        if file is None or place.stale
        else file.documented
    )
    return Span(
        chunk.repo,
        view.shown(chunk.repo, chunk.path),
        definition,
        rows,
        hit.score,
        documented,
        best_line(mark_terms(text, query.terms), start),
        is_prose=chunk.flags.is_docs,
    )


def index_warnings(located: LocatedHits) -> list[str]:
    """Say that the index is behind the disk."""
    stale = sum(place.stale is not None for _, place in located.hits)
    if not located.changed and not located.gone:
        return []
    behind = f"{located.changed + located.gone} of the files changed since they were indexed"
    lines = f"; the lines of {stale} sources are those of the index" if stale else ""
    return [f"the index is behind: {behind}{lines}; qdrant_index brings it up to date"]
