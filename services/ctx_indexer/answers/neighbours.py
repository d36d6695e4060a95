"""Reads the sure callers of the symbol that a question names, and its sure callees."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.answers.inquiry import Inquiry
from ctx_indexer.answers.sources import Span
from ctx_indexer.chunking.definition_spans import DefinitionSpan
from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.graph.edges import CallSite
from ctx_indexer.graph.graph import GraphDefinition, SymbolGraph
from ctx_indexer.graph.relations import Related
from ctx_indexer.lookup.files import ParsedFile, ReadFiles
from ctx_indexer.lookup.selection import is_within
from ctx_indexer.search.definition_choice import is_named, split_symbol
from ctx_indexer.search.searcher import SearchHit
from ctx_indexer.search.snippet import Rows
from ctx_indexer.syntax.definitions import FUNCTIONS, Definition, flatten

MAX_CALLERS = 2  # of the asked symbol: they show how it is used
MAX_CALLEES = 2  # of it: they show how it works
MAX_READ_CALLERS = 50  # whose flags are looked at
SECONDS = 5.0  # of the graph for one answer; it takes a tenth of one where nothing else runs
NEIGHBOUR_SHARE = 0.5  # of the relevance of the asked symbol


@dataclass(frozen=True)
class _Asked:
    """The symbol that a question names: the hit that it means, and its place in the graph."""

    hit: SearchHit
    definition: DefinitionSpan
    target: GraphDefinition

    @property
    def symbol(self) -> str:
        return self.definition.symbol

    @property
    def repo(self) -> str:
        return self.hit.chunk.repo


@dataclass(frozen=True)
class _Neighbour:
    """A line of a definition around the asked symbol, and how it is related to the asked symbol."""

    path: str
    line: int
    role: str


class Neighbours:
    """Reads the definitions around an asked symbol, where the graph has them exactly."""

    def __init__(self, files: ReadFiles, store: VectorStore) -> None:
        self._files = files
        self._store = store

    async def spans(self, inquiry: Inquiry) -> list[Span]:
        """Return the callers of the symbol that the question names, then its callees.

        Raises TimeoutError after SECONDS: an answer can do without neighbours.
        """
        found = _named_hit(inquiry)
        if found is None:
            return []
        async with asyncio.timeout(SECONDS):
            return await self._spans(*found, inquiry)

    async def _spans(
        self, hit: SearchHit, definition: DefinitionSpan, inquiry: Inquiry
    ) -> list[Span]:
        chunk = hit.chunk
        graph = SymbolGraph(self._store, inquiry.view, chunk.repo)
        targets = await graph.definitions(split_symbol(definition.symbol), [chunk.path])
        if not targets:
            return []
        asked = _Asked(hit, definition, targets[0])
        callers = await self._callers(graph, asked, inquiry)
        is_function = definition.kind in FUNCTIONS  # a class makes the calls of all its methods
        callees = (await graph.callees(asked.target)).related if is_function else ()
        return await self._read(asked, [*callers, *_callees(asked, callees)], inquiry)

    async def _callers(
        self, graph: SymbolGraph, asked: _Asked, inquiry: Inquiry
    ) -> list[_Neighbour]:
        """Return the first exact call of each calling definition, those of tests last."""
        answer = await graph.callers(asked.target)
        sites = _one_a_caller(answer.sites, asked)[:MAX_READ_CALLERS]
        paths = {site.path for site in sites}
        tests = await self._files.tests(inquiry.view, asked.repo, paths)
        sites.sort(key=lambda site: (is_within(site.line, tests.get(site.path, ())), site.path))
        role = f"calls {asked.symbol}"
        return [_Neighbour(site.path, site.line, role) for site in sites[:MAX_CALLERS]]

    async def _read(
        self, asked: _Asked, places: Sequence[_Neighbour], inquiry: Inquiry
    ) -> list[Span]:
        """Read the definitions around lines; those of files that changed are left out."""
        paths = {place.path for place in places}
        changed = await self._files.changed(inquiry.view, asked.repo, paths)
        wanted = [(asked.repo, path) for path in sorted(paths - changed)]
        files = await self._files.parsed(inquiry.view, wanted)
        return [
            _around(file, place, asked, inquiry)
            for place in places
            if (file := files.get((asked.repo, place.path))) and place.line <= len(file.rows)
        ]


def _named_hit(inquiry: Inquiry) -> tuple[SearchHit, DefinitionSpan] | None:
    """Return the best hit that a name in the question means, and its definition."""
    for hit, place in inquiry.located.hits:
        symbol = place.span.symbol
        if place.stale is None and any(is_named(symbol, name) for name in inquiry.query.names):
            return hit, place.span
    return None


def _one_a_caller(sites: Sequence[CallSite], asked: _Asked) -> list[CallSite]:
    """Return the first exact call of each calling definition, without calls of itself."""
    exact = [site for site in sites if site.certainty is Certainty.EXACT]
    own = asked.target.path, asked.symbol
    by_caller = {(site.path, site.caller): site for site in reversed(exact)}
    return [site for place, site in reversed(by_caller.items()) if place != own]


def _callees(asked: _Asked, found: Sequence[Related]) -> list[_Neighbour]:
    """Return the callees of the asked symbol, without itself and its inner definitions."""
    inside = f"{asked.target.symbol}."
    others = [
        each
        for each in found
        if each.path != asked.target.path or not f"{each.symbol}.".startswith(inside)
    ]
    role = f"called by {asked.symbol}"
    return [_Neighbour(each.path, each.line, role) for each in others[:MAX_CALLEES]]


def _around(file: ParsedFile, place: _Neighbour, asked: _Asked, inquiry: Inquiry) -> Span:
    """Return the innermost definition around a line, or the line alone."""
    row = place.line - 1
    enclosing = [each for each in flatten(file.definitions) if each.start <= row <= each.end]
    definition = _definition_span(enclosing[-1]) if enclosing else _line_span(place.line)
    return Span(
        asked.repo,
        inquiry.view.shown(asked.repo, place.path),
        definition,
        Rows(file.rows),
        asked.hit.score * NEIGHBOUR_SHARE,
        file.documented,
        place.line,
        place.role,
    )


def _definition_span(found: Definition) -> DefinitionSpan:
    return DefinitionSpan(found.path, found.kind, found.start + 1, found.end + 1, found.head + 1)


def _line_span(line: int) -> DefinitionSpan:
    return DefinitionSpan("", "code", line, line, line)
