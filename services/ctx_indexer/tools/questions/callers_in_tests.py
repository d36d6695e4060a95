"""The test functions that call a definition."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctx_core.errors import InvalidInput
from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.lookup.files import ReadFiles
from ctx_indexer.lookup.marks import CALL
from ctx_indexer.lookup.reader import DefinitionLocation, FileLocation, Lines
from ctx_indexer.lookup.selection import is_within
from ctx_indexer.schema.complexity import complexity
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.snippet import Rows, snippet, token_estimate
from ctx_indexer.source.languages import language_of
from ctx_indexer.syntax.definitions import FUNCTIONS
from ctx_indexer.tools.filter_values import checked_languages
from ctx_indexer.tools.responses import CodeHit, RepoSearchResult
from ctx_indexer.tools.search_arguments import SearchArguments, names_of
from ctx_indexer.tools.search_result import snippet_sizes
from ctx_indexer.tools.uses import (
    EXACT_SCORE,
    POSSIBLE_SCORE,
    FoundUse,
    Uses,
    Where,
)
from ctx_indexer.view.view import View


@dataclass(frozen=True)
class _TestCall:
    """The first call of a definition in a test function."""

    use: FoundUse
    definition: DefinitionLocation
    lines: Lines


class CallersInTests:
    """Finds the tests that call a symbol, resolved as for `search_callers_for`."""

    def __init__(self, files: ReadFiles, uses: Uses) -> None:
        self._files = files
        self._uses = uses

    def symbol_of(self, asked: SearchArguments) -> str | None:
        """Return the symbol that is all of a query, None for words."""
        queries = parse_queries(asked.query)
        return queries[0].text if len(queries) == 1 and queries[0].is_symbol else None

    async def answer(
        self, asked: SearchArguments, name: str, view: View
    ) -> RepoSearchResult | None:
        """Return the test functions that call a symbol, None where nothing defines it."""
        started = time.perf_counter()
        if not asked.workspace_path:  # a session's folder narrows searches, no callers
            view = replace(view, under=names_of(asked.under))
        [language] = checked_languages(names_of(asked.language)) or [None]
        where = Where.of(view, language, names_of(asked.repo))
        try:
            uses, named, problems = await self._uses.find(where, name, CALL)
        except InvalidInput as error:
            if error.details.get("field") != "name":
                raise
            return None
        in_tests = await self._in_tests(where, [use for use in uses if where.admits(use)])
        functions = _first_of_each(in_tests)
        page = functions[asked.offset : asked.offset + asked.limit]
        calls = [call for use in page if (call := await self._read(where, use))]
        result: RepoSearchResult = {
            "ok": True,
            "results": _hits(calls, asked, where),
            "total": len(functions),
            "used_rerank": False,
            "search_time_ms": round((time.perf_counter() - started) * 1000, 1),
            "query": asked.query,
            "exact": sum(use.certainty is Certainty.EXACT for use in functions),
            "possible": sum(use.certainty is Certainty.POSSIBLE for use in functions),
            "complete": not problems and len(calls) == len(functions),
            "definitions": named,
        }
        if asked.offset:
            result["offset"] = asked.offset
        if problems:
            result["warnings"] = problems
        return result

    async def _in_tests(self, where: Where, uses: Sequence[FoundUse]) -> list[FoundUse]:
        """Keep the uses on lines that are indexed as tests."""
        kept: list[FoundUse] = []
        for repo in dict.fromkeys(use.repo for use in uses):
            own = [use for use in uses if use.repo == repo]
            spans = await self._files.tests(where.view, repo, {use.path for use in own})
            kept += [use for use in own if is_within(use.line, spans.get(use.path, ()))]
        return kept

    async def _read(self, where: Where, use: FoundUse) -> _TestCall | None:
        """Read the function around a call; None where its file changed and has no such line."""
        root = where.view.roots.get(use.repo)
        if root is None:
            return None
        file = FileLocation(use.repo, root, use.path)
        try:
            around = _function_at(await self._files.outline(file), use.line)
            if around is None:
                return None
            lines = await self._files.lines(file, around.start_line, around.end_line)
        except InvalidInput:
            return None
        return _TestCall(use, around, lines)


def _first_of_each(uses: Sequence[FoundUse]) -> list[FoundUse]:
    """Keep the surest use of each test function, exact ones first."""
    best: dict[tuple[str, str, str], FoundUse] = {}
    for use in uses:
        best.setdefault((use.repo, use.path, use.symbol or str(use.line)), use)
    return list(best.values())


def _function_at(outline: Sequence[DefinitionLocation], line: int) -> DefinitionLocation | None:
    """Return the innermost function around a line, else the innermost definition."""
    around = [each for each in outline if each.start_line <= line <= each.end_line]
    functions = [each for each in around if each.kind in FUNCTIONS]
    return next(reversed(functions or around), None)


def _hits(calls: Sequence[_TestCall], asked: SearchArguments, where: Where) -> list[CodeHit]:
    sizes = snippet_sizes(len(calls))
    return [_hit(call, asked, where, size) for call, size in zip(calls, sizes, strict=True)]


def _hit(call: _TestCall, asked: SearchArguments, where: Where, max_chars: int) -> CodeHit:
    use, definition, lines = call.use, call.definition, call.lines
    text = "\n".join(lines.rows)
    score = EXACT_SCORE if use.certainty is Certainty.EXACT else POSSIBLE_SCORE
    hit: CodeHit = {
        "score": score,
        "path": where.view.shown(use.repo, use.path),
        "symbol": definition.symbol,
        "start_line": definition.start_line,
        "end_line": definition.end_line,
        "components": {
            "dense_score": 0.0,
            "lexical_score": 0.0,
            "reranker_score": None,
            "final_score": score,
        },
        "metadata": {
            "language": language_of(use.path),
            "kind": definition.kind,
            "complexity": complexity(text),
            "tokens": token_estimate(text),
        },
        "certainty": use.certainty.value,
        "reason": f"line {use.line}: {use.reason}",
    }
    if asked.include_snippet:
        rows = Rows(lines.rows, lines.start_line)
        hit["snippet"] = snippet(rows, definition.span, use.line, max_chars)
    return hit
