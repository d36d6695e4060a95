"""Searches code for the tools: filters checked, hits ranked, found on disk, and written out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.core.errors import CollectionNotFound
from services.indexer.lookup.located import LocatedHits
from services.indexer.lookup.lookup import Lookup
from services.indexer.lookup.scope import PathScope
from services.indexer.search.filters import SearchFilters
from services.indexer.search.query import ParsedQuery, merge_queries, parse_queries
from services.indexer.search.searcher import MAX_HITS, Searcher, SearchRequest, SearchResult
from services.indexer.tools.context import IndexerContext
from services.indexer.tools.filter_values import check_places, checked_kinds, checked_languages
from services.indexer.tools.responses import RepoSearchResult
from services.indexer.tools.search_arguments import SearchArguments, names_of
from services.indexer.tools.search_result import Shown, build_result

SPARE_HITS = 3  # read beyond the limit, because two hits may be one definition


@dataclass(frozen=True)
class FoundCode:
    """The hits of a search, the definitions that they mean, and how their paths are shown."""

    collection: str
    query: ParsedQuery
    result: SearchResult
    located: LocatedHits
    scope: PathScope
    seconds: float


class CodeSearch:
    """Answers the searches of one server's tools."""

    def __init__(self, context: IndexerContext, searcher: Searcher, lookup: Lookup) -> None:
        self._context = context
        self._searcher = searcher
        self._lookup = lookup

    async def answer(
        self, asked: SearchArguments, *, is_test: bool | None = None, is_config: bool | None = None
    ) -> RepoSearchResult:
        """Search and build the result, of tests or configuration only where asked for.

        Raises InvalidInput for a wrong value, CollectionNotFound, ModelMismatch.
        """
        found = await self.find(asked, is_test=is_test, is_config=is_config)
        return self.show(asked, found)

    async def find(
        self, asked: SearchArguments, *, is_test: bool | None = None, is_config: bool | None = None
    ) -> FoundCode:
        """Find code, and the definitions that the hits mean. Raises as `answer` does."""
        chosen = self._context.collection(asked.collection, asked.session)
        scope = await self._lookup.scope(chosen)
        queries = [
            replace(each, filters=scope.narrow(each.filters, each.filters.repos))
            for each in parse_queries(asked.query)
        ]
        filters = self._filters(asked, queries, scope)
        filters = replace(filters, is_test=is_test, is_config=is_config)
        started = time.perf_counter()
        found = await self._search(chosen, _request(asked, queries, filters))
        if not found.hits:
            await check_places(self._context.vectors, chosen, filters, names_of(asked.repo))
        merged = merge_queries(queries)
        inline = queries[0].filters if len(queries) == 1 else SearchFilters()
        located = await self._lookup.locate(
            chosen, found.hits, merged, filters.with_inline(inline), asked.per_path
        )
        return FoundCode(chosen, merged, found, located, scope, time.perf_counter() - started)

    def show(self, asked: SearchArguments, found: FoundCode) -> RepoSearchResult:
        """Build the result of a search, with as much of each hit as was asked for."""
        shown = Shown(
            limit=asked.limit,
            offset=asked.offset,
            context_lines=asked.context_lines if asked.include_snippet else None,
            highlights=asked.highlight_snippet,
            explain=asked.explain,
            window=self._context.window,
        )
        started = time.perf_counter()
        result = build_result(found.result, found.located, found.query.terms, shown, found.scope)
        seconds = found.seconds + time.perf_counter() - started
        result["search_time_ms"] = round(seconds * 1000, 1)
        result["query"] = asked.query
        return result

    def _filters(
        self, asked: SearchArguments, queries: Sequence[ParsedQuery], scope: PathScope
    ) -> SearchFilters:
        repos = names_of(asked.repo)
        in_query = any(each.filters.repos for each in queries)
        filters = SearchFilters(
            repos=() if in_query and not repos else self._context.repos(repos, scope),
            languages=checked_languages(names_of(asked.language)),
            kinds=checked_kinds(names_of(asked.kind)),
            symbols=names_of(asked.symbol),
            under=names_of(asked.under),
            exts=names_of(asked.ext),
            path_globs=names_of(asked.path_glob),
            not_globs=names_of(asked.not_glob),
        )
        return scope.narrow(filters, repos)

    async def _search(self, collection: str, request: SearchRequest) -> SearchResult:
        try:
            return await self._searcher.search(collection, request)
        except CollectionNotFound as error:
            hint = "index first: call qdrant_index, or run: ctx index"
            raise CollectionNotFound(f"{error.message}; {hint}", **error.details) from error


def _request(
    asked: SearchArguments, queries: Sequence[ParsedQuery], filters: SearchFilters
) -> SearchRequest:
    return SearchRequest(
        queries,
        filters,
        min(asked.offset + asked.limit + SPARE_HITS, MAX_HITS),
        asked.per_path,
        asked.rerank_enabled,
        asked.rerank_top_n,
        asked.rerank_return_m,
        reads_all=asked.offset > 0,
    )
