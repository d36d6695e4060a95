"""`repo_search` and its alias `code_search`."""

import functools
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from services.core.errors import CollectionNotFound
from services.core.serving.service import Effect, Tool
from services.core.serving.sessions import SessionToken
from services.indexer.lookup.lookup import Lookup
from services.indexer.search.filters import SearchFilters
from services.indexer.search.query import MAX_QUERY_LENGTH, merge_queries, parse_queries
from services.indexer.search.searcher import MAX_HITS, Searcher, SearchRequest
from services.indexer.tools.context import CollectionArgument, IndexerContext
from services.indexer.tools.filter_values import check_places, checked_kinds, checked_languages
from services.indexer.tools.foreign_arguments import adapt_search
from services.indexer.tools.responses import RepoSearchResult
from services.indexer.tools.search_result import Shown, build_result, render_repo_search

TOOLSET = "search"
MAX_LIMIT = MAX_HITS
MAX_PER_PATH = 100
MAX_RERANKED = 200
MAX_CONTEXT_LINES = 50
SPARE_HITS = 3  # read beyond the limit, because two hits may be one definition

Text = Annotated[str, Field(max_length=MAX_QUERY_LENGTH)]
Names = str | list[str] | None


def search_tools(context: IndexerContext, searcher: Searcher, lookup: Lookup) -> Sequence[Tool]:
    """Build the code search under both its names."""

    async def repo_search(
        query: Annotated[
            Text | list[Text],
            Field(description="Words, a question or a symbol; a list is searched as one."),
        ],
        limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Maximum results.")] = 10,
        offset: Annotated[int, Field(ge=0, le=MAX_HITS, description="Results to skip.")] = 0,
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
            Field(ge=0, le=MAX_CONTEXT_LINES, description="Lines around each definition."),
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
        explain: Annotated[bool, Field(description="Show how scores came about.")] = False,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> RepoSearchResult:
        """Find code by meaning, words and symbols together; the best definitions come first.

        Filters may stand in the query too: lang: path: kind: symbol: repo: under: ext: not:
        """
        chosen = context.collection(collection, session)
        scope = await lookup.scope(chosen)
        queries = [
            replace(each, filters=scope.narrow(each.filters, each.filters.repos))
            for each in parse_queries(query)
        ]
        in_query = any(each.filters.repos for each in queries)
        filters = SearchFilters(
            repos=() if in_query and not repo else context.repos(names_of(repo), scope),
            languages=checked_languages(names_of(language)),
            kinds=checked_kinds(names_of(kind)),
            symbols=names_of(symbol),
            under=names_of(under),
            exts=names_of(ext),
            path_globs=names_of(path_glob),
            not_globs=names_of(not_glob),
        )
        filters = scope.narrow(filters, names_of(repo))
        started = time.perf_counter()
        request = SearchRequest(
            queries,
            filters,
            min(offset + limit + SPARE_HITS, MAX_HITS),
            per_path,
            rerank_enabled,
            rerank_top_n,
            rerank_return_m,
            reads_all=offset > 0,
        )
        try:
            found = await searcher.search(chosen, request)
        except CollectionNotFound as error:
            hint = "index first: call qdrant_index, or run: ctx index"
            raise CollectionNotFound(f"{error.message}; {hint}", **error.details) from error
        if not found.hits:
            await check_places(context.vectors, chosen, filters, names_of(repo))
        merged = merge_queries(queries)
        inline = queries[0].filters if len(queries) == 1 else SearchFilters()
        located = await lookup.locate(
            chosen, found.hits, merged, filters.with_inline(inline), per_path
        )
        shown = Shown(
            limit=limit,
            offset=offset,
            context_lines=context_lines if include_snippet else None,
            highlights=highlight_snippet,
            explain=explain,
            window=context.window,
        )
        result = build_result(found, located, merged.terms, shown, scope)
        result["search_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
        result["query"] = query
        return result

    return [
        Tool(
            repo_search,
            "Search code",
            TOOLSET,
            Effect.READS,
            render=render_repo_search,
            lean=True,
            adapt=adapt_search,
        ),
        Tool(
            _alias(repo_search, "code_search"),
            "Search code",
            TOOLSET,
            Effect.READS,
            render=render_repo_search,
            alias_of="repo_search",
            adapt=adapt_search,
        ),
    ]


def _alias(run: Callable[..., Awaitable[RepoSearchResult]], name: str) -> Callable[..., Any]:
    """Return the same function under another name."""

    @functools.wraps(run)
    async def alias(*args: Any, **kwargs: Any) -> RepoSearchResult:
        return await run(*args, **kwargs)

    alias.__name__ = name
    return alias


def names_of(value: Names) -> tuple[str, ...]:
    """Return one name or a list of names without blank ones."""
    given = [value] if isinstance(value, str) else value or []
    return tuple(name.strip() for name in given if name.strip())
