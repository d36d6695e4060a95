"""Searches code for the tools: filters checked, hits ranked, found on disk, and written out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctx_indexer.lookup.located import LocatedHits
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.scope import PathScope
from ctx_indexer.search.filters import ALL_REPOS, SearchFilters
from ctx_indexer.search.query import ParsedQuery, merge_queries, parse_queries
from ctx_indexer.search.searcher import MAX_HITS, Searcher, SearchRequest, SearchResult
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.filter_values import check_places, checked_kinds, checked_languages
from ctx_indexer.tools.foreign_arguments import (
    MILLISECONDS,
    is_case_sensitive,
    meaningless,
    test_of_paths,
)
from ctx_indexer.tools.responses import RepoSearchResult
from ctx_indexer.tools.search_arguments import SearchArguments, names_of
from ctx_indexer.tools.search_result import (
    Shown,
    build_result,
    most_chars,
    unheld_names,
    with_warnings,
)

SPARE_HITS = 3  # read beyond the limit, because two hits may be one definition


@dataclass(frozen=True)
class FoundCode:
    """The hits of a search, the definitions that they mean, and how their paths are shown.

    `total` counts the definitions that can be paged to.
    """

    collection: str
    query: ParsedQuery
    result: SearchResult
    located: LocatedHits
    total: int
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
        around = await self._lookup.scope(chosen, names_of(asked.workspace_path))
        asked = self._in_place(asked, around)
        parsed = parse_queries(asked.query)
        inline_folders = [folder for each in parsed for folder in each.filters.under]
        scope = await self._lookup.scope(chosen, [*names_of(asked.under), *inline_folders])
        queries = [
            replace(each, filters=scope.narrow(each.filters, each.filters.repos)) for each in parsed
        ]
        filters = self._filters(asked, queries, scope)
        filters = replace(filters, is_test=is_test, is_config=is_config)
        started = time.perf_counter()
        request = _request(asked, queries, filters)
        found, located, total = await self._page(chosen, request)
        if len(located.hits) < min(asked.offset + asked.limit, total):
            # Several hits were one definition, so that more have to be read.
            found, located, total = await self._page(chosen, replace(request, reads_all=True))
        if not found.hits:
            await check_places(self._context.vectors, chosen, filters, names_of(asked.repo))
        seconds = time.perf_counter() - started
        return FoundCode(chosen, merge_queries(queries), found, located, total, scope, seconds)

    def show(self, asked: SearchArguments, found: FoundCode) -> RepoSearchResult:
        """Build the result of a search, with as much of each hit as was asked for."""
        unheld = unheld_names(found.query, found.located.hits)
        shown = Shown(
            total=found.total,
            limit=asked.limit,
            offset=asked.offset,
            context_lines=asked.context_lines if asked.include_snippet else None,
            highlights=asked.highlight_snippet,
            explain=asked.explain,
            window=self._context.window,
            max_chars=most_chars(found.query, unheld),
        )
        started = time.perf_counter()
        result = build_result(found.result, found.located, found.query.terms, shown, found.scope)
        seconds = found.seconds + time.perf_counter() - started
        result["search_time_ms"] = round(seconds * 1000, 1)
        result["query"] = asked.query
        return with_warnings(result, [*unheld, *meaningless(asked.mode, asked.output_format)])

    def _in_place(self, asked: SearchArguments, scope: PathScope) -> SearchArguments:
        """Fill in the session's defaults, and find the folder of a workspace that is named."""
        defaults = self._context.sessions.filters(asked.session)
        asked = replace(
            asked,
            mode=asked.mode or defaults.get("mode"),
            language=asked.language or defaults.get("language"),
        )
        if not asked.workspace_path:
            return replace(asked, under=asked.under or defaults.get("under"))
        under = scope.folder_in(asked.workspace_path, asked.under)
        repo = asked.repo or (ALL_REPOS if under.startswith("/") else None)
        return replace(asked, under=under, repo=repo)

    def _filters(
        self, asked: SearchArguments, queries: Sequence[ParsedQuery], scope: PathScope
    ) -> SearchFilters:
        repos = names_of(asked.repo)
        in_query = any(each.filters.repos for each in queries)
        path_test = test_of_paths(asked.path_regex, is_case_sensitive(asked.case))
        filters = SearchFilters(
            repos=() if in_query and not repos else self._context.repos(repos, scope),
            languages=checked_languages(names_of(asked.language)),
            kinds=checked_kinds(names_of(asked.kind)),
            symbols=names_of(asked.symbol),
            under=names_of(asked.under),
            exts=names_of(asked.ext),
            path_globs=names_of(asked.path_glob),
            not_globs=names_of(asked.not_glob),
            path_tests=(path_test,) if path_test else (),
        )
        return scope.narrow(filters, repos)

    async def _page(
        self, collection: str, request: SearchRequest
    ) -> tuple[SearchResult, LocatedHits, int]:
        """Search, find the definitions of the hits on disk, and count those of all hits."""
        found = await self._searcher.search(collection, request)
        queries = request.queries
        inline = queries[0].filters if len(queries) == 1 else SearchFilters()
        located = await self._lookup.locate(
            collection,
            [*found.hits, *found.rest],
            merge_queries(queries),
            request.filters.with_inline(inline),
            request.per_path,
        )
        unread = (
            await self._lookup.present(collection, found.unread, request.filters)
            if found.unread
            else 0
        )
        first = {hit.ranked.candidate.id for hit in found.hits}
        shown = [each for each in located.hits if each[0].ranked.candidate.id in first]
        return found, replace(located, hits=shown), len(located.hits) + unread


def _request(
    asked: SearchArguments, queries: Sequence[ParsedQuery], filters: SearchFilters
) -> SearchRequest:
    timeout = asked.rerank_timeout_ms
    return SearchRequest(
        queries,
        filters,
        min(asked.offset + asked.limit + SPARE_HITS, MAX_HITS),
        asked.per_path,
        asked.rerank_enabled,
        asked.rerank_top_n,
        asked.rerank_return_m,
        rerank_seconds=timeout / MILLISECONDS if timeout else None,
        reads_all=asked.offset > 0,
        counts=True,
        mode=asked.mode,
        case_sensitive=is_case_sensitive(asked.case),
    )
