"""`repo_search` and its alias, in the words of the contract."""

import functools
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from services.core.serving.service import Effect, Tool
from services.core.serving.sessions import CollectionName, SessionDefaults, SessionToken
from services.core.text.highlight import highlights, marked
from services.indexer.search.filters import SearchFilters
from services.indexer.search.query import MAX_QUERY_LENGTH, parse_queries
from services.indexer.search.ranking import merged
from services.indexer.search.rerank import SearchHit
from services.indexer.search.searcher import Outcome, Request, Searcher
from services.indexer.search.snippet import DEFAULT_CUT, Cut, snippet, token_estimate

MAX_LIMIT = 100
MAX_PER_PATH = 100
MAX_RERANKED = 200
MAX_CONTEXT_LINES = 50
TOOLSET = "search"
# Lines of a chunk that branch, for a word about its complexity.
BRANCH_WORDS = ("if", "for", "while", "case", "catch", "except", "elif", "match", "switch", "when")
MEDIUM_BRANCHES, HIGH_BRANCHES = 3, 10

Text = Annotated[str, Field(max_length=MAX_QUERY_LENGTH)]
Names = str | list[str] | None


class Components(TypedDict):
    """What made a score: each leg's own score, the reranker's, and the factor of each rule."""

    dense_score: float
    lexical_score: float
    reranker_score: float | None
    final_score: float
    rules: dict[str, float]


class Metadata(TypedDict):
    """What is known of the chunk beside its place."""

    language: str
    kind: str
    complexity: str
    tokens: int
    repo: str
    symbol_path: str


class CodeHit(TypedDict):
    """One result."""

    score: float
    path: str
    symbol: str
    start_line: int
    end_line: int
    snippet: NotRequired[str]
    highlights: NotRequired[list[str]]
    components: Components
    metadata: Metadata


class SearchResult(TypedDict):
    """What `repo_search` answers."""

    ok: bool
    results: list[CodeHit]
    total: int
    used_rerank: bool
    search_time_ms: float
    query: str | list[str]
    degraded: NotRequired[list[str]]


def search_tools(
    searcher: Searcher,
    sessions: SessionDefaults,
    default_collection: str,
    default_repo: str | None,
    cut: Cut = DEFAULT_CUT,
) -> Sequence[Tool]:
    """Both names of the code search."""

    async def repo_search(
        query: Annotated[
            Text | list[Text],
            Field(description="Words, a question or a symbol; a list is searched as one."),
        ],
        limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Most results.")] = 10,
        per_path: Annotated[
            int, Field(ge=1, le=MAX_PER_PATH, description="Most results from one file.")
        ] = 2,
        repo: Annotated[
            Names, Field(description="Only these repositories; `*` is every one.")
        ] = None,
        language: Annotated[str | None, Field(description="Only this language.")] = None,
        path_glob: Annotated[Names, Field(description="Only paths like these.")] = None,
        under: Annotated[
            str | None, Field(description="Only this folder and all below it.")
        ] = None,
        not_glob: Annotated[Names, Field(description="No paths like these.")] = None,
        symbol: Annotated[str | None, Field(description="Only where this name is defined.")] = None,
        kind: Annotated[
            str | None,
            Field(description="Only function, class, variable, import, comment, method, …"),
        ] = None,
        ext: Annotated[Names, Field(description="Only files with this ending.")] = None,
        include_snippet: Annotated[bool, Field(description="Show the code.")] = True,
        context_lines: Annotated[
            int,
            Field(ge=0, le=MAX_CONTEXT_LINES, description="Lines around the best part of a chunk."),
        ] = 3,
        highlight_snippet: Annotated[
            bool, Field(description="List fragments with the matching words marked <<so>>.")
        ] = True,
        rerank_enabled: Annotated[
            bool | None,
            Field(description="Read the best candidates again with the cross-encoder, or not."),
        ] = None,
        rerank_top_n: Annotated[
            int, Field(ge=1, le=MAX_RERANKED, description="Candidates that it reads.")
        ] = 50,
        rerank_return_m: Annotated[
            int, Field(ge=1, le=MAX_LIMIT, description="Most results after reranking.")
        ] = 12,
        collection: CollectionName = None,
        session: SessionToken = None,
    ) -> SearchResult:
        """Find code by meaning, words and symbols together; the best spans come first.

        Filters may stand in the query too: lang: path: kind: symbol: repo: under: ext: not:
        """
        questions = parse_queries(query)
        scope = SearchFilters(
            repos=_repos(repo, default_repo),
            languages=_names(language),
            kinds=_names(kind),
            symbols=_names(symbol),
            under=_names(under),
            exts=_names(ext),
            path_globs=_names(path_glob),
            not_globs=_names(not_glob),
        )
        where = collection or sessions.collection(session) or default_collection
        started = time.perf_counter()
        request = Request(
            questions, scope, limit, per_path, rerank_enabled, rerank_top_n, rerank_return_m
        )
        outcome = await searcher.search(where, request)
        terms = merged(questions).terms
        hits = [
            _hit(found, terms, context_lines if include_snippet else None, highlight_snippet, cut)
            for found in outcome.results
        ]
        return _answer(query, hits, outcome, (time.perf_counter() - started) * 1000)

    return [
        Tool(repo_search, "Search code", TOOLSET, Effect.READS),
        Tool(_alias(repo_search, "code_search"), "Search code", TOOLSET, Effect.READS),
    ]


def _alias(run: Callable[..., Awaitable[SearchResult]], name: str) -> Callable[..., Any]:
    """The same function under another name."""

    @functools.wraps(run)
    async def alias(*args: Any, **kwargs: Any) -> SearchResult:
        return await run(*args, **kwargs)

    alias.__name__ = name
    return alias


def _answer(
    query: str | list[str], hits: list[CodeHit], outcome: Outcome, milliseconds: float
) -> SearchResult:
    answer: SearchResult = {
        "ok": True,
        "results": hits,
        "total": outcome.total,
        "used_rerank": outcome.used_rerank,
        "search_time_ms": round(milliseconds, 1),
        "query": query,
    }
    if outcome.degraded:
        answer["degraded"] = list(outcome.degraded)
    return answer


def _names(value: Names) -> tuple[str, ...]:
    """One name or a list of them; blanks are nothing."""
    given = [value] if isinstance(value, str) else value or []
    return tuple(name.strip() for name in given if name.strip())


def _repos(asked: Names, default: str | None) -> tuple[str, ...]:
    return _names(asked) or _names(default)


def _hit(
    found: SearchHit,
    terms: frozenset[str],
    context_lines: int | None,
    highlighted: bool,
    cut: Cut,
) -> CodeHit:
    payload, ranked = found.payload, found.ranked
    text = str(payload["text"])
    score = round(found.score, 4)
    hit: CodeHit = {
        "score": score,
        "path": payload["path"],
        "symbol": payload["symbol"],
        "start_line": payload["start_line"],
        "end_line": payload["end_line"],
        "components": {
            "dense_score": round(ranked.candidate.dense, 4),
            "lexical_score": round(ranked.candidate.lexical, 4),
            "reranker_score": None if found.fit is None else round(found.fit, 4),
            "final_score": score,
            "rules": {name: round(value, 4) for name, value in ranked.rules.items()},
        },
        "metadata": {
            "language": payload["language"],
            "kind": payload["kind"],
            "complexity": _complexity(text),
            "tokens": token_estimate(text),
            "repo": payload["repo"],
            "symbol_path": payload["symbol_path"],
        },
    }
    seen = marked(text, terms)
    if context_lines is not None:
        hit["snippet"] = snippet(seen, payload["start_line"], context_lines, cut).text
    if highlighted:
        hit["highlights"] = highlights(seen)
    return hit


def _complexity(text: str) -> str:
    branches = sum(line.lstrip().startswith(BRANCH_WORDS) for line in text.splitlines())
    if branches >= HIGH_BRANCHES:
        return "high"
    return "medium" if branches >= MEDIUM_BRANCHES else "low"
