"""Searches code for the tools: filters checked, hits ranked, found on disk, and written out."""

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctx_indexer.lookup.located import LocatedHits
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import ParsedQuery, parse_queries
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
from ctx_indexer.view.view import ALL_REPOS, View
from ctx_indexer.view.views import ViewArguments

SPARE_HITS = 3  # read beyond the limit, because two hits may be one definition


@dataclass(frozen=True)
class FoundCode:
    """The hits of a search in a view, and the definitions that they mean.

    `total` counts the definitions that can be paged to.
    """

    view: View
    query: ParsedQuery
    result: SearchResult
    located: LocatedHits
    total: int
    seconds: float


class CodeSearch:
    """Answers the searches of one server's tools."""

    def __init__(self, context: IndexerContext, searcher: Searcher, lookup: Lookup) -> None:
        self._context = context
        self._searcher = searcher
        self._lookup = lookup

    async def view(self, asked: SearchArguments) -> View:
        """Resolve the view of a search; folders inside of its queries are places too.

        Raises InvalidInput for a wrong value, NotPermitted.
        """
        default = None if asked.workspace_path else self._defaults(asked).get("under")
        inline = [each.filters.under for each in parse_queries(asked.query)]
        return await self._context.views.resolve(
            ViewArguments(
                asked.collection,
                asked.session,
                names_of(asked.repo),
                names_of(asked.under or default),
                tuple(itertools.chain(*inline)),
                asked.workspace_path,
            )
        )

    async def answer(
        self,
        asked: SearchArguments,
        view: View,
        *,
        is_test: bool | None = None,
        is_config: bool | None = None,
    ) -> RepoSearchResult:
        """Search and build the result, of tests or configuration only where asked for.

        Raises InvalidInput for a wrong value, CollectionNotFound, ModelMismatch.
        """
        found = await self.find(asked, view, is_test=is_test, is_config=is_config)
        return self.show(asked, found)

    async def find(
        self,
        asked: SearchArguments,
        view: View,
        *,
        is_test: bool | None = None,
        is_config: bool | None = None,
    ) -> FoundCode:
        """Find code, and the definitions that the hits mean. Raises as `answer` does."""
        asked = self._with_defaults(asked)
        queries = [
            replace(each, filters=each.filters.within(view, each.filters.repos))
            for each in parse_queries(asked.query)
        ]
        filters = _filters(asked, queries, view)
        filters = replace(filters, is_test=is_test, is_config=is_config)
        started = time.perf_counter()
        request = _request(asked, queries, filters)
        found, located, total = await self._page(view, request)
        if len(located.hits) < min(asked.offset + asked.limit, total):
            # Several hits were one definition, so that more have to be read.
            found, located, total = await self._page(view, replace(request, reads_all=True))
        if not found.hits:
            await check_places(self._context.vectors, view, filters, names_of(asked.repo))
        seconds = time.perf_counter() - started
        return FoundCode(view, request.query, found, located, total, seconds)

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
            max_chars=most_chars(found.query, unheld),
        )
        started = time.perf_counter()
        result = build_result(found.result, found.located, found.query.terms, shown, found.view)
        seconds = found.seconds + time.perf_counter() - started
        result["search_time_ms"] = round(seconds * 1000, 1)
        result["query"] = asked.query
        return with_warnings(result, [*unheld, *meaningless(asked.mode, asked.output_format)])

    def _defaults(self, asked: SearchArguments) -> Mapping[str, str]:
        return self._context.sessions.filters(asked.session)

    def _with_defaults(self, asked: SearchArguments) -> SearchArguments:
        """Fill in the mode and language of the session."""
        defaults = self._defaults(asked)
        return replace(
            asked,
            mode=asked.mode or defaults.get("mode"),
            language=asked.language or defaults.get("language"),
        )

    async def _page(
        self, view: View, request: SearchRequest
    ) -> tuple[SearchResult, LocatedHits, int]:
        """Search, find the definitions of the hits on disk, and count those of all hits."""
        found = await self._searcher.search(view, request)
        queries = request.queries
        inline = queries[0].filters if len(queries) == 1 else SearchFilters()
        located = await self._lookup.hits.locate(
            view,
            [*found.hits, *found.rest],
            request.query,
            request.filters.with_inline(inline),
            request.per_path,
        )
        unread = await self._lookup.hits.present(view, found.unread) if found.unread else 0
        first = {hit.ranked.candidate.id for hit in found.hits}
        shown = [each for each in located.hits if each[0].ranked.candidate.id in first]
        return found, replace(located, hits=shown), len(located.hits) + unread


def _filters(asked: SearchArguments, queries: Sequence[ParsedQuery], view: View) -> SearchFilters:
    named = names_of(asked.repo)
    path_test = test_of_paths(asked.path_regex, is_case_sensitive(asked.case))
    filters = SearchFilters(
        repos=_repos(named, queries, view),
        languages=checked_languages(names_of(asked.language)),
        kinds=checked_kinds(names_of(asked.kind)),
        symbols=names_of(asked.symbol),
        under=view.under,
        exts=names_of(asked.ext),
        path_globs=names_of(asked.path_glob),
        not_globs=names_of(asked.not_glob),
        path_tests=(path_test,) if path_test else (),
    )
    return filters.within(view, named)


def _repos(named: Sequence[str], queries: Sequence[ParsedQuery], view: View) -> tuple[str, ...]:
    """Leave out the default repos where a query names its own: `repo:shop receipt`."""
    by_default = not named and ALL_REPOS not in view.repos
    return () if by_default and any(each.filters.repos for each in queries) else view.repos


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
