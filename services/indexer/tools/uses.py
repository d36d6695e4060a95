"""Uses of a definition: calls and imports with their certainty and their line on disk."""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NotRequired

from typing_extensions import TypedDict

from services.indexer.graph.edges import Certainty
from services.indexer.graph.graph import Answer, GraphDefinition, SymbolGraph
from services.indexer.lookup.lookup import Lookup
from services.indexer.lookup.marks import CALL
from services.indexer.lookup.pattern import Pattern
from services.indexer.lookup.reader import split_name
from services.indexer.lookup.scope import PathScope
from services.indexer.search.filters import SearchFilters
from services.indexer.source.languages import language_of
from services.indexer.source.walk import is_under
from services.indexer.syntax.symbols.specs import SPECS
from services.indexer.tools.context import IndexerContext

MAX_DEFINITIONS = 10  # of one plain name; more need a qualified one
MAX_LINE = 240  # characters of a line as it is shown
BY_NAME_LINES = 1_000
EXACT_SCORE, POSSIBLE_SCORE = 1.0, 0.5
BY_NAME = "by name: calls of this language are not resolved"


class Use(TypedDict):
    """A line that uses a definition. `symbol` is the definition around it.

    `stale` tells that the file changed, and this line of it uses the definition no more.
    """

    score: float
    path: str
    symbol: str
    start_line: int
    end_line: int
    snippet: str
    certainty: str
    reason: str
    of: NotRequired[str]
    stale: NotRequired[bool]


class UsesResult(TypedDict):
    """The uses of a definition, exact ones first. `complete` says that none is left out."""

    ok: bool
    query: str
    results: list[Use]
    total: int
    exact: int
    possible: int
    complete: bool
    definitions: list[str]
    used_rerank: bool
    search_time_ms: float
    warnings: NotRequired[list[str]]


@dataclass(frozen=True)
class FoundUse:
    """A use before its line is read."""

    repo: str
    path: str
    line: int
    symbol: str
    certainty: Certainty
    reason: str
    of: str
    text: str | None = None


@dataclass(frozen=True)
class Where:
    """The collection of a question, paths as its caller knows them, and what uses it asks for."""

    collection: str
    scope: PathScope
    filters: SearchFilters

    @property
    def anywhere(self) -> SearchFilters:
        """The same repos, without the limits that are meant for uses."""
        return self.filters.of_repos(*self.filters.repos)

    def admits(self, use: FoundUse) -> bool:
        """Whether a use is in a folder and of a language that were asked for."""
        languages = {each.lower() for each in self.filters.languages}
        if languages and language_of(use.path) not in languages:
            return False
        return not self.filters.folders or any(
            use.repo == repo and (not folder or is_under(use.path, folder))
            for repo, folder in self.filters.folders
        )


class Uses:
    """Finds uses of a name in the repos of a collection."""

    def __init__(self, context: IndexerContext, lookup: Lookup) -> None:
        self._context = context
        self._lookup = lookup

    async def where(
        self, collection: str, language: str | None, repos: Sequence[str], under: str | None
    ) -> Where:
        """Read the filters of a question. Raises InvalidInput for a folder with `..`."""
        scope = await self._lookup.scope(collection, [under] if under else [])
        filters = SearchFilters(
            repos=self._context.repos(repos, scope),
            languages=(language,) if language else (),
            under=(under,) if under else (),
        )
        return Where(collection, scope, scope.narrow(filters, repos))

    async def find(
        self, where: Where, name: str, role: str
    ) -> tuple[list[FoundUse], list[str], list[str]]:
        """Return uses, the definitions they are of, and what is not complete.

        Raises InvalidInput with similar names where no definition has the name.
        """
        found = await self._lookup.definitions(where.collection, name, where.anywhere)
        located = found.every
        uses: list[FoundUse] = []
        named: list[str] = []
        problems: list[str] = []
        for repo in sorted({each.file.repo for each in located}):
            graph = SymbolGraph(self._context.vectors, where.collection, repo, where.filters.hidden)
            own = [each for each in located if each.file.repo == repo]
            paths = sorted({each.file.path for each in own})
            definitions = await graph.definitions(split_name(name), paths)
            known = {each.path for each in definitions}
            for definition in definitions[:MAX_DEFINITIONS]:
                answer = await _ask(graph, definition, role)
                uses += _found(repo, definition, answer)
                problems += [answer.incomplete] if answer.incomplete else []
                path = where.scope.shown(repo, definition.path)
                named.append(f"{path}:{definition.start_line} {definition.symbol}")
            if len(definitions) > MAX_DEFINITIONS:
                left = len(definitions) - MAX_DEFINITIONS
                problems.append(f"{left} more definitions of this name; qualify it")
            others = [each for each in own if each.file.path not in known]
            if any(not _is_resolved(each.file.path) for each in others):
                named += [
                    f"{where.scope.shown(repo, e.file.path)}:{e.start_line} {e.symbol}"
                    for e in others
                ]
                by_name, truncated = await self._by_name(where, name, repo, role)
                uses += by_name
                problems += [f"only {BY_NAME_LINES} lines by name were read"] if truncated else []
        return _unique(uses), named, list(dict.fromkeys(problems))

    async def _by_name(
        self, where: Where, name: str, repo: str, role: str
    ) -> tuple[list[FoundUse], bool]:
        """Find uses in files of languages that are not resolved, and whether there are more."""
        last = split_name(name)[-1]
        pattern = Pattern(last, regex=False, case_sensitive=True, word=True)
        within = where.filters.of_repos(repo)
        found = await self._lookup.search(where.collection, pattern, within, BY_NAME_LINES, 0, role)
        uses = [
            FoundUse(
                repo, file.path, line.line, line.mark.symbol, Certainty.POSSIBLE, BY_NAME, last
            )
            for file in found.files
            for line in file.lines
            if not _is_resolved(file.path)
        ]
        return uses, found.shown < found.lines

    async def build(self, where: Where, name: str, role: str, limit: int) -> UsesResult:
        """Build the result of a search for uses. Raises InvalidInput as `find`."""
        started = time.perf_counter()
        uses, named, problems = await self.find(where, name, role)
        uses = [use for use in uses if where.admits(use)]
        shown = await self._with_lines(where, uses[:limit])
        if len(uses) > limit:
            problems.append(f"{len(uses) - limit} more; raise limit")
        several = len(named) > 1
        result: UsesResult = {
            "ok": True,
            "query": name,
            "results": [_use(each, where.scope, several=several) for each in shown],
            "total": len(uses),
            "exact": sum(each.certainty is Certainty.EXACT for each in uses),
            "possible": sum(each.certainty is Certainty.POSSIBLE for each in uses),
            "complete": not problems,
            "definitions": named[:MAX_DEFINITIONS],
            "used_rerank": False,
            "search_time_ms": round((time.perf_counter() - started) * 1000, 1),
        }
        if problems:
            result["warnings"] = problems
        return result

    async def _with_lines(self, where: Where, uses: Sequence[FoundUse]) -> list[FoundUse]:
        read: dict[tuple[str, str, int], str | None] = {}
        changed: set[tuple[str, str]] = set()
        for repo in {use.repo for use in uses}:
            places = [(use.path, use.line) for use in uses if use.repo == repo]
            texts = await self._lookup.line_texts(where.collection, repo, places, where.filters)
            read.update({(repo, *place): text for place, text in zip(places, texts, strict=True)})
            paths = {path for path, _ in places}
            found = await self._lookup.changed(where.collection, repo, paths, where.filters)
            changed |= {(repo, path) for path in found}
        return [
            replace(use, text=_text_of(use, read[use.repo, use.path, use.line], changed))
            for use in uses
        ]


async def _ask(graph: SymbolGraph, definition: GraphDefinition, role: str) -> Answer:
    return await (graph.callers(definition) if role == CALL else graph.importers(definition))


def _found(repo: str, definition: GraphDefinition, answer: Answer) -> Iterator[FoundUse]:
    for site in answer.sites:
        yield FoundUse(
            repo,
            site.path,
            site.line,
            site.caller,
            site.certainty,
            site.reason,
            definition.symbol,
        )
    for each in answer.imports:
        reason = "imported" if each.alias == _last(definition.symbol) else f"as {each.alias}"
        yield FoundUse(repo, each.path, each.line, "", Certainty.EXACT, reason, definition.symbol)


def _unique(uses: Iterable[FoundUse]) -> list[FoundUse]:
    """Keep one use a line, the surest; exact ones come first."""
    best: dict[tuple[str, str, int], FoundUse] = {}
    for use in sorted(uses, key=lambda each: each.certainty is not Certainty.EXACT):
        best.setdefault((use.repo, use.path, use.line), use)
    return sorted(
        best.values(),
        key=lambda each: (each.certainty is not Certainty.EXACT, each.repo, each.path, each.line),
    )


def _use(found: FoundUse, scope: PathScope, *, several: bool) -> Use:
    text = found.text
    use: Use = {
        "score": EXACT_SCORE if found.certainty is Certainty.EXACT else POSSIBLE_SCORE,
        "path": scope.shown(found.repo, found.path),
        "symbol": found.symbol,
        "start_line": found.line,
        "end_line": found.line,
        "snippet": f"{found.line}: {(text or '').strip()[:MAX_LINE]}",
        "certainty": found.certainty.value,
        "reason": found.reason,
    }
    if several:
        use["of"] = found.of
    if text is None:
        use["stale"] = True
    return use


def _text_of(use: FoundUse, text: str | None, changed: Collection[tuple[str, str]]) -> str | None:
    """Return the line of a use; None where its file changed and the line is another one."""
    if text is None or (use.repo, use.path) not in changed:
        return text
    return text if any(part in text for part in use.of.split(".")) else None


def _is_resolved(path: str) -> bool:
    return language_of(path) in SPECS


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]
