"""Uses of a definition: calls and imports with their certainty and their line on disk."""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NotRequired

from typing_extensions import TypedDict

from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.graph.graph import Answer, GraphDefinition, SymbolGraph
from ctx_indexer.languages.registry import language_named
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.marks import CALL
from ctx_indexer.lookup.named import NamedDefinitions, NamedInRepo
from ctx_indexer.lookup.pattern import Pattern
from ctx_indexer.lookup.written_name import name_parts, without_type_arguments
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.source.languages import language_of
from ctx_indexer.source.walk import is_under
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.view.view import View

MAX_DEFINITIONS = 60  # of one plain name; more need a qualified one
SHOWN_DEFINITIONS = 8
MAX_LINE = 240  # characters of a line as it is shown
BY_NAME_LINES = 1_000
EXACT_SCORE, POSSIBLE_SCORE = 1.0, 0.5
OF_VALUE = "by name: values are not resolved"
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
    """The uses of a definition, exact ones first.

    `complete` says that none is left out; `warnings` say why some may be.
    """

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
    next_offset: NotRequired[int]
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
    """The view of a question, and the folders and language of the uses that it asks for."""

    view: View
    filters: SearchFilters

    @classmethod
    def of(cls, view: View, language: str | None, named: Sequence[str]) -> "Where":
        """Read the filters of a question about a view; `named` are the repos that it names.

        Raises InvalidInput for a folder with `..`.
        """
        languages = (language,) if language else ()
        filters = SearchFilters(repos=view.repos, languages=languages, under=view.under)
        return cls(view, filters.within(view, named))

    @property
    def anywhere(self) -> SearchFilters:
        """The same repos, without the limits that are meant for uses."""
        return SearchFilters(repos=self.filters.repos)

    def shown(self, repo: str, path: str, line: int, symbol: str) -> str:
        """Return a definition as its caller knows it: path, line and qualified name."""
        return f"{self.view.shown(repo, path)}:{line} {symbol}"

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
    """Finds uses of a name in the repos of a view."""

    def __init__(self, context: IndexerContext, lookup: Lookup) -> None:
        self._lookup = lookup
        self._named = NamedDefinitions(lookup.definitions, context.vectors)

    async def find(
        self, where: Where, name: str, role: str
    ) -> tuple[list[FoundUse], list[str], list[str]]:
        """Return uses, the definitions they are of, and why there may be more.

        Raises InvalidInput with similar names where no definition has the name.
        """
        uses: list[FoundUse] = []
        named: list[str] = []
        every = await self._named.find(where.view, name, where.anywhere)
        problems = every.problems
        for found in every.repos:
            definitions, repo = found.definitions[:MAX_DEFINITIONS], found.repo
            if definitions:
                answer = await _ask(found.graph, definitions, role)
                uses += _found(repo, definitions, answer)
                problems += answer.problems(partial(where.view.shown, repo))
            named += [where.shown(repo, e.path, e.start_line, e.symbol) for e in definitions]
            if len(found.definitions) > MAX_DEFINITIONS:
                left = len(found.definitions) - MAX_DEFINITIONS
                problems.append(f"{left} more definitions of this name; qualify it")
            for each in (*found.by_name, *found.values):
                named.append(where.shown(repo, each.file.path, each.start_line, each.symbol))
            if found.values:
                problems.append(f"{named[-1]} is no function or class: its uses are told by name")
            if found.by_name or (found.values and not definitions):
                by_name, truncated = await self._by_name(where, name, found, role)
                uses += by_name
                problems += [f"only {BY_NAME_LINES} lines by name were read"] if truncated else []
        return _unique(uses), named, list(dict.fromkeys(problems))

    async def _by_name(
        self, where: Where, name: str, of: NamedInRepo, role: str
    ) -> tuple[list[FoundUse], bool]:
        """Find uses of a language or a value that is not resolved, and whether there are more."""
        repo = of.repo
        only_values = not of.by_name
        last = name_parts(without_type_arguments(name))[-1]
        pattern = Pattern(last, regex=False, case_sensitive=True, word=True)
        found = await self._lookup.exact.find(
            where.view,
            pattern,
            SearchFilters(repos=(repo,)),
            BY_NAME_LINES,
            0,
            role,
            admits=lambda path: only_values or not _is_resolved(path),
        )
        reason = OF_VALUE if only_values else BY_NAME
        uses = [
            FoundUse(repo, file.path, line.line, line.mark.symbol, Certainty.POSSIBLE, reason, last)
            for file in found.files
            for line in file.lines
        ]
        return uses, found.shown < found.lines

    async def build(
        self, where: Where, name: str, role: str, limit: int, offset: int
    ) -> UsesResult:
        """Build the result of a search for uses. Raises InvalidInput as `find`."""
        started = time.perf_counter()
        uses, named, problems = await self.find(where, name, role)
        uses = [use for use in uses if where.admits(use)]
        after = offset + limit
        shown = await self._with_lines(where, uses[offset:after])
        several = len(named) > 1
        result: UsesResult = {
            "ok": True,
            "query": name,
            "results": [_use(each, where.view, several=several) for each in shown],
            "total": len(uses),
            "exact": sum(each.certainty is Certainty.EXACT for each in uses),
            "possible": sum(each.certainty is Certainty.POSSIBLE for each in uses),
            "complete": not problems and not offset and after >= len(uses),
            "definitions": _shortened(named),
            "used_rerank": False,
            "search_time_ms": round((time.perf_counter() - started) * 1000, 1),
        }
        if after < len(uses):
            result["next_offset"] = after
        if problems:
            result["warnings"] = problems
        return result

    async def _with_lines(self, where: Where, uses: Sequence[FoundUse]) -> list[FoundUse]:
        read: dict[tuple[str, str, int], str | None] = {}
        changed: set[tuple[str, str]] = set()
        for repo in {use.repo for use in uses}:
            places = [(use.path, use.line) for use in uses if use.repo == repo]
            texts = await self._lookup.files.line_texts(where.view, repo, places)
            read.update({(repo, *place): text for place, text in zip(places, texts, strict=True)})
            paths = {path for path, _ in places}
            found = await self._lookup.files.changed(where.view, repo, paths)
            changed |= {(repo, path) for path in found}
        return [
            replace(use, text=_text_of(use, read[use.repo, use.path, use.line], changed))
            for use in uses
        ]


async def _ask(graph: SymbolGraph, definitions: Sequence[GraphDefinition], role: str) -> Answer:
    return await (graph.callers(*definitions) if role == CALL else graph.importers(*definitions))


def _found(repo: str, definitions: Sequence[GraphDefinition], answer: Answer) -> Iterator[FoundUse]:
    symbols = {each.value: each.symbol for each in definitions}
    for site in answer.sites:
        of = symbols[site.of]
        yield FoundUse(repo, site.path, site.line, site.caller, site.certainty, site.reason, of)
    for each in answer.imports:
        of = symbols[each.of]
        reason = "imported" if each.alias == _last(of) else f"as {each.alias}"
        sureness = Certainty.POSSIBLE if each.unsure else Certainty.EXACT
        yield FoundUse(repo, each.path, each.line, "", sureness, each.unsure or reason, of)


def _shortened(named: Sequence[str]) -> list[str]:
    """Return the first definitions, and how many there are beyond them."""
    left = len(named) - SHOWN_DEFINITIONS
    return [*named[:SHOWN_DEFINITIONS], *([f"{left} more"] if left > 0 else [])]


def _unique(uses: Iterable[FoundUse]) -> list[FoundUse]:
    """Keep one use a line, the surest; exact ones come first."""
    best: dict[tuple[str, str, int], FoundUse] = {}
    for use in sorted(uses, key=lambda each: each.certainty is not Certainty.EXACT):
        best.setdefault((use.repo, use.path, use.line), use)
    return sorted(
        best.values(),
        key=lambda each: (each.certainty is not Certainty.EXACT, each.repo, each.path, each.line),
    )


def _use(found: FoundUse, view: View, *, several: bool) -> Use:
    text = found.text
    use: Use = {
        "score": EXACT_SCORE if found.certainty is Certainty.EXACT else POSSIBLE_SCORE,
        "path": view.shown(found.repo, found.path),
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
    return language_named(language_of(path)).symbols is not None


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]
