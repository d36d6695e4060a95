"""`repo_search` and its alias `code_search`."""

import functools
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from pydantic import Field

from services.core.serving.service import Effect, Tool
from services.core.serving.sessions import SessionToken
from services.core.text.highlight import highlights, mark_terms
from services.indexer.schema.complexity import complexity
from services.indexer.search.filters import SearchFilters
from services.indexer.search.query import MAX_QUERY_LENGTH, merge_queries, parse_queries
from services.indexer.search.searcher import Searcher, SearchHit, SearchRequest, SearchResult
from services.indexer.search.snippet import WindowSize, snippet, token_estimate
from services.indexer.tools.context import CollectionArgument, IndexerContext
from services.indexer.tools.responses import CodeHit, RepoSearchResult

TOOLSET = "search"
MAX_LIMIT = 100
MAX_PER_PATH = 100
MAX_RERANKED = 200
MAX_CONTEXT_LINES = 50
DIGITS = 4  # of a score: enough to distinguish hits

Text = Annotated[str, Field(max_length=MAX_QUERY_LENGTH)]
Names = str | list[str] | None


def search_tools(context: IndexerContext, searcher: Searcher) -> Sequence[Tool]:
    """Build the code search under both its names."""

    async def repo_search(
        query: Annotated[
            Text | list[Text],
            Field(description="Words, a question or a symbol; a list is searched as one."),
        ],
        limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Maximum results.")] = 10,
        per_path: Annotated[
            int, Field(ge=1, le=MAX_PER_PATH, description="Maximum results from one file.")
        ] = 2,
        repo: Annotated[
            Names, Field(description="Only these repositories; `*` is every one.")
        ] = None,
        language: Annotated[str | None, Field(description="Only this language.")] = None,
        path_glob: Annotated[Names, Field(description="Only paths like these.")] = None,
        under: Annotated[
            str | None, Field(description="Only this folder and all below it.")
        ] = None,
        not_glob: Annotated[Names, Field(description="Exclude paths like these.")] = None,
        symbol: Annotated[str | None, Field(description="Only where this name is defined.")] = None,
        kind: Annotated[
            str | None,
            Field(description="Only function, class, variable, import, comment, method, …"),
        ] = None,
        ext: Annotated[Names, Field(description="Only files with this ending.")] = None,
        include_snippet: Annotated[bool, Field(description="Include the code.")] = True,
        context_lines: Annotated[
            int,
            Field(
                ge=0, le=MAX_CONTEXT_LINES, description="Lines around the best window of a chunk."
            ),
        ] = 3,
        highlight_snippet: Annotated[
            bool, Field(description="List fragments with the matching words marked <<so>>.")
        ] = True,
        rerank_enabled: Annotated[
            bool | None,
            Field(description="Rerank the best candidates with the cross-encoder, or not."),
        ] = None,
        rerank_top_n: Annotated[
            int, Field(ge=1, le=MAX_RERANKED, description="Candidates to rerank.")
        ] = 50,
        rerank_return_m: Annotated[
            int, Field(ge=1, le=MAX_LIMIT, description="Maximum results after reranking.")
        ] = 12,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> RepoSearchResult:
        """Find code by meaning, words and symbols together; the best spans come first.

        Filters may stand in the query too: lang: path: kind: symbol: repo: under: ext: not:
        """
        queries = parse_queries(query)
        filters = SearchFilters(
            repos=names_of(repo) or names_of(context.default_repo),
            languages=names_of(language),
            kinds=names_of(kind),
            symbols=names_of(symbol),
            under=names_of(under),
            exts=names_of(ext),
            path_globs=names_of(path_glob),
            not_globs=names_of(not_glob),
        )
        started = time.perf_counter()
        request = SearchRequest(
            queries, filters, limit, per_path, rerank_enabled, rerank_top_n, rerank_return_m
        )
        result = await searcher.search(context.collection(collection, session), request)
        terms = merge_queries(queries).terms
        lines = context_lines if include_snippet else None
        hits = [
            _code_hit(hit, terms, lines, highlight_snippet, context.window) for hit in result.hits
        ]
        return _response(query, hits, result, (time.perf_counter() - started) * 1000)

    return [
        Tool(repo_search, "Search code", TOOLSET, Effect.READS),
        Tool(_alias(repo_search, "code_search"), "Search code", TOOLSET, Effect.READS),
    ]


def _alias(run: Callable[..., Awaitable[RepoSearchResult]], name: str) -> Callable[..., Any]:
    """Return the same function under another name."""

    @functools.wraps(run)
    async def alias(*args: Any, **kwargs: Any) -> RepoSearchResult:
        return await run(*args, **kwargs)

    alias.__name__ = name
    return alias


def _response(
    query: str | list[str], hits: list[CodeHit], result: SearchResult, milliseconds: float
) -> RepoSearchResult:
    response: RepoSearchResult = {
        "ok": True,
        "results": hits,
        "total": result.total,
        "used_rerank": result.used_rerank,
        "search_time_ms": round(milliseconds, 1),
        "query": query,
    }
    if result.degraded:
        response["degraded"] = list(result.degraded)
    return response


def names_of(value: Names) -> tuple[str, ...]:
    """Return one name or a list of names without blank ones."""
    given = [value] if isinstance(value, str) else value or []
    return tuple(name.strip() for name in given if name.strip())


def _code_hit(
    hit: SearchHit,
    terms: frozenset[str],
    context_lines: int | None,
    highlighted: bool,
    window: WindowSize,
) -> CodeHit:
    chunk, ranked = hit.chunk, hit.ranked
    score = round(hit.score, DIGITS)
    code_hit: CodeHit = {
        "score": score,
        "path": chunk.path,
        "symbol": chunk.symbol,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "components": {
            "dense_score": round(ranked.candidate.dense, DIGITS),
            "lexical_score": round(ranked.candidate.lexical, DIGITS),
            "reranker_score": round(hit.rerank.cross_encoder, DIGITS) if hit.rerank else None,
            "final_score": score,
            "rules": {name: round(value, DIGITS) for name, value in ranked.rules.items()},
        },
        "metadata": {
            "language": chunk.language,
            "kind": chunk.kind,
            "complexity": complexity(chunk.text),
            "tokens": token_estimate(chunk.text),
            "repo": chunk.repo,
            "symbol_path": chunk.symbol_path,
        },
    }
    marked_text = mark_terms(chunk.text, terms)
    if context_lines is not None:
        code_hit["snippet"] = snippet(marked_text, chunk.start_line, context_lines, window).text
    if highlighted:
        code_hit["highlights"] = highlights(marked_text)
    return code_hit
