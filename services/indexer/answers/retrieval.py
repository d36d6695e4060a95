"""Retrieves the spans that may answer a question: search hits, and callers of what is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.core.text.highlight import mark_terms
from services.core.vectors.protocol import VectorStore
from services.indexer.answers.sources import Span
from services.indexer.chunking.definition_spans import COMMENT, DefinitionSpan
from services.indexer.graph.edges import CallSite, Certainty
from services.indexer.graph.graph import SymbolGraph
from services.indexer.lookup.located import Located, LocatedHits
from services.indexer.lookup.lookup import Lookup, ParsedFile
from services.indexer.lookup.scope import PathScope
from services.indexer.search.definition_choice import is_named, split_symbol
from services.indexer.search.filters import SearchFilters
from services.indexer.search.query import ParsedQuery
from services.indexer.search.searcher import SearchHit
from services.indexer.search.snippet import Rows, best_line
from services.indexer.syntax.definitions import Definition, flatten

MAX_CALLERS = 3  # of the asked symbol: they show how it is used
CALLER_SHARE = 0.5  # of the relevance of what is called

File = tuple[str, str]
"""A repo and a path in it."""


@dataclass(frozen=True)
class Inquiry:
    """A question, and the hits of a code search for it."""

    collection: str
    query: ParsedQuery
    located: LocatedHits
    scope: PathScope
    degraded: Sequence[str] = ()

    @property
    def hits(self) -> list[SearchHit]:
        return [hit for hit, _ in self.located.hits]

    @property
    def filters(self) -> SearchFilters:
        """The checkouts that the question is about, and nothing narrower."""
        return self.scope.narrow(SearchFilters())


class Retriever:
    """Reads the spans of hits, as they are on disk, and of what calls the asked symbol."""

    def __init__(self, lookup: Lookup, store: VectorStore) -> None:
        self._lookup = lookup
        self._store = store

    async def spans(self, inquiry: Inquiry) -> list[Span]:
        """Return the spans that may answer, the best first, callers of the asked symbol last."""
        files = await self._files(inquiry)
        found = [
            _span(hit, place, inquiry.query, inquiry.scope, files)
            for hit, place in inquiry.located.hits
        ]
        return [*found, *await self._callers(inquiry)]

    async def _files(self, inquiry: Inquiry) -> Mapping[File, ParsedFile]:
        places = list(dict.fromkeys((hit.chunk.repo, hit.chunk.path) for hit in inquiry.hits))
        return await self._lookup.parsed(inquiry.collection, places, inquiry.filters)

    async def _callers(self, inquiry: Inquiry) -> list[Span]:
        """Return the definitions that surely call the symbol which the question names."""
        asked = _asked(inquiry.query, inquiry.located)
        if asked is None:
            return []
        hit, place = asked
        repo, path, symbol = hit.chunk.repo, hit.chunk.path, place.span.symbol
        graph = SymbolGraph(self._store, inquiry.collection, repo, inquiry.scope.hidden)
        [*targets] = await graph.definitions(split_symbol(symbol), [path])
        if not targets:
            return []
        answer = await graph.callers(targets[0])
        sites = _one_a_caller(answer.sites, path, symbol)
        places = [(repo, site.path) for site in sites]
        files = await self._lookup.parsed(inquiry.collection, places, inquiry.filters)
        spans = []
        for site in sites:
            file = files.get((repo, site.path))
            if file is not None and site.line <= len(file.rows):
                span = _around(file, site, inquiry.scope.shown(repo, site.path), repo)
                spans.append(replace(span, relevance=hit.score * CALLER_SHARE))
        return [replace(span, role=f"calls {symbol}") for span in spans]


def _span(
    hit: SearchHit,
    place: Located,
    query: ParsedQuery,
    scope: PathScope,
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
        scope.shown(chunk.repo, chunk.path),
        definition,
        rows,
        hit.score,
        documented,
        best_line(mark_terms(text, query.terms), start),
        is_prose=chunk.flags.is_docs,
    )


def _asked(query: ParsedQuery, located: LocatedHits) -> tuple[SearchHit, Located] | None:
    """Return the best hit that a name in the question means."""
    for hit, place in located.hits:
        if place.stale is None and any(is_named(place.span.symbol, n) for n in query.names):
            return hit, place
    return None


def _one_a_caller(sites: Sequence[CallSite], path: str, symbol: str) -> list[CallSite]:
    """Return the first exact call of each calling definition, without calls of itself."""
    exact = [site for site in sites if site.certainty is Certainty.EXACT]
    others = [site for site in exact if (site.path, site.caller) != (path, symbol)]
    by_caller = {(site.path, site.caller): site for site in reversed(others)}
    callers = sorted(by_caller.values(), key=lambda site: (_is_test(site.path), site.path))
    return callers[:MAX_CALLERS]


def _is_test(path: str) -> bool:
    return "test" in path


def _around(file: ParsedFile, site: CallSite, shown_path: str, repo: str) -> Span:
    """Return the innermost definition around a call, or the call's line alone."""
    row = site.line - 1
    enclosing = [each for each in flatten(file.definitions) if each.start <= row <= each.end]
    definition = _definition_span(enclosing[-1]) if enclosing else _line_span(site.line)
    return Span(repo, shown_path, definition, Rows(file.rows), 0.0, file.documented, site.line)


def _definition_span(found: Definition) -> DefinitionSpan:
    return DefinitionSpan(found.path, found.kind, found.start + 1, found.end + 1, found.head + 1)


def _line_span(line: int) -> DefinitionSpan:
    return DefinitionSpan("", "code", line, line, line)


def index_warnings(located: LocatedHits) -> list[str]:
    """Say that the index is behind the disk."""
    stale = sum(place.stale is not None for _, place in located.hits)
    if not located.changed and not located.gone:
        return []
    behind = f"{located.changed + located.gone} of the files changed since they were indexed"
    lines = f"; the lines of {stale} sources are those of the index" if stale else ""
    return [f"the index is behind: {behind}{lines}; qdrant_index brings it up to date"]
