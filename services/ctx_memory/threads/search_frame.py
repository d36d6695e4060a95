"""The steps that the four thread searches share, around the one in which they differ."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Criteria, EntryKind
from ctx_memory.search.filters import count_filters
from ctx_memory.search.report import elapsed_ms, noted_steps
from ctx_memory.threads.render import SearchHit
from ctx_memory.threads.responses import SearchResult
from ctx_memory.threads.search_request import SearchRequest, clamp_limit

FILTERS_INVALID = "Metadata filter validation failed"  # the words that clients look for
R = TypeVar("R", bound=SearchResult)


@dataclass(frozen=True)
class PreparedSearch:
    """The validated part of a request."""

    criteria: Criteria
    limit: int
    offset: int
    include_images: bool


@dataclass(frozen=True)
class SearchPage:
    """The hits of a search, its warnings, its part of `stats`, and the number of hits on all pages.

    `plan` asks the database how it ran the search; None where it only applied the filters.
    """

    hits: list[SearchHit]
    warnings: Sequence[str] = ()
    stats: Mapping[str, Any] = field(default_factory=dict)
    total: int | None = None
    plan: Callable[[], Awaitable[list[str]]] | None = None


class SearchFrame:
    """Clamps the limit, validates filters, runs a search, and adds warnings and statistics."""

    def __init__(self, records: EntryRecords) -> None:
        self._records = records

    async def run(
        self,
        result: R,
        request: SearchRequest,
        search: Callable[[PreparedSearch], Awaitable[SearchPage]],
    ) -> R:
        """Fill the result; with invalid metadata filters nothing is searched, and it says so."""
        start = time.perf_counter()
        limit, clamped = clamp_limit(request.limit)
        criteria, errors = request.filters.criteria(EntryKind.THREAD)
        if errors:
            result["error"] = FILTERS_INVALID
            result["validation_errors"] = errors
            return result
        prepared = PreparedSearch(criteria, limit, request.offset, request.include_images)
        with noted_steps() as steps:
            page = await search(prepared)
        result["results"] = page.hits
        result["count"] = len(page.hits)
        if page.total is not None:
            result["total"] = page.total
        if page.warnings:
            result["warnings"] = list(page.warnings)
        if clamped is not None:
            result["clamped_limit"] = clamped
        if request.explain:
            result["stats"] = {
                "execution_time_ms": elapsed_ms(start),
                **page.stats,
                "filters_applied": count_filters(criteria),
                "backend": self._records.dialect,
                "query_plan": [
                    *steps,
                    *await (page.plan() if page.plan else self._records.explain(criteria)),
                ],
                "rows_returned": result["count"],
            }
        return result
