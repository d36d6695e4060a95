"""The four thread searches as tools, with the contract's names and defaults."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from ctx_core.serving.service import Effect, Tool
from ctx_memory.records.types import MAX_OFFSET, TextMode
from ctx_memory.search.filters import EntryFilters
from ctx_memory.threads.enabled import EnabledSearches
from ctx_memory.threads.requests import Source, ThreadId
from ctx_memory.threads.responses import (
    HybridSearchResult,
    SearchResult,
    SemanticSearchResult,
    TextSearchResult,
)
from ctx_memory.threads.search_request import MAX_LIMIT, MAX_QUERY_LENGTH, SearchRequest
from ctx_memory.threads.service import Threads

BROWSE_LIMIT = 30
RANKED_LIMIT = 5

Query = Annotated[str, Field(max_length=MAX_QUERY_LENGTH, description="Words or a question.")]
Limit = Annotated[int, Field(ge=1, description=f"Maximum number of results, up to {MAX_LIMIT}.")]
Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET, description="Results to skip.")]
InThread = Annotated[ThreadId | None, Field(description="Only this thread.")]
FromSource = Annotated[Source | None, Field(description="Only entries from here.")]
WithTags = Annotated[list[str] | None, Field(description="Only entries with one of these tags.")]
OfType = Annotated[
    Literal["text", "multimodal"] | None,
    Field(description="Only entries without images, or only those with."),
]
Having = Annotated[
    dict[str, Any] | None,
    Field(description="Only entries with these values; a.b is a nested key."),
]
Conditions = Annotated[
    list[Any] | None,
    Field(
        description="Conditions that all hold: {key, operator, value, case_sensitive}; eq ne gt "
        "gte lt lte in not_in exists not_exists contains starts_with ends_with is_null is_not_null "
        "array_contains."
    ),
]
Since = Annotated[str | None, Field(description="Only entries from this ISO 8601 date or time on.")]
Until = Annotated[
    str | None,
    Field(description="Only entries stored at or before it; a date alone includes its whole day."),
]
WithImages = Annotated[bool, Field(description="Show the images of the results.")]
Explain = Annotated[bool, Field(description="Add statistics and the query plan.")]


def search_tools(threads: Threads, toolset: str, enabled: EnabledSearches) -> Sequence[Tool]:
    """Return the search tools that the settings leave on; browsing always is."""

    async def search_context(
        thread_id: InThread = None,
        source: FromSource = None,
        tags: WithTags = None,
        content_type: OfType = None,
        metadata: Having = None,
        metadata_filters: Conditions = None,
        start_date: Since = None,
        end_date: Until = None,
        limit: Limit = BROWSE_LIMIT,
        offset: Offset = 0,
        include_images: WithImages = False,
        explain_query: Explain = False,
    ) -> SearchResult:
        """List entries by filters alone, the newest first.

        Texts are cut short; get_context_by_ids reads them in full.
        """
        filters = EntryFilters(
            thread_id, source, tags, content_type, metadata, metadata_filters, start_date, end_date
        )
        return await threads.searches.browse(
            SearchRequest(filters, limit, offset, include_images, explain_query)
        )

    async def semantic_search_context(
        query: Query,
        limit: Limit = RANKED_LIMIT,
        offset: Offset = 0,
        thread_id: InThread = None,
        source: FromSource = None,
        tags: WithTags = None,
        content_type: OfType = None,
        start_date: Since = None,
        end_date: Until = None,
        metadata: Having = None,
        metadata_filters: Conditions = None,
        include_images: WithImages = False,
        explain_query: Explain = False,
    ) -> SemanticSearchResult:
        """Find entries that mean something similar, whatever their words; the nearest first.

        Texts are cut short; get_context_by_ids reads them in full.
        """
        filters = EntryFilters(
            thread_id, source, tags, content_type, metadata, metadata_filters, start_date, end_date
        )
        return await threads.searches.by_meaning(
            query, SearchRequest(filters, limit, offset, include_images, explain_query)
        )

    async def fts_search_context(
        query: Query,
        mode: Annotated[
            Literal["match", "prefix", "phrase", "boolean"],
            Field(
                description="All words in any form, words that begin so, the words in this order, "
                "or AND, OR, NOT and brackets."
            ),
        ] = "match",
        limit: Limit = RANKED_LIMIT,
        offset: Offset = 0,
        thread_id: InThread = None,
        source: FromSource = None,
        tags: WithTags = None,
        content_type: OfType = None,
        start_date: Since = None,
        end_date: Until = None,
        metadata: Having = None,
        metadata_filters: Conditions = None,
        highlight: Annotated[
            bool, Field(description="Show a passage with the matching words marked.")
        ] = False,
        include_images: WithImages = False,
        explain_query: Explain = False,
    ) -> TextSearchResult:
        """Find entries by their words; the best match first.

        Texts are cut short; get_context_by_ids reads them in full.
        """
        filters = EntryFilters(
            thread_id, source, tags, content_type, metadata, metadata_filters, start_date, end_date
        )
        return await threads.searches.by_words(
            query,
            TextMode(mode),
            highlight,
            SearchRequest(filters, limit, offset, include_images, explain_query),
        )

    async def hybrid_search_context(
        query: Query,
        limit: Limit = RANKED_LIMIT,
        offset: Offset = 0,
        search_modes: Annotated[
            list[Literal["fts", "semantic"]] | None,
            Field(min_length=1, description="By words, by meaning; both by default."),
        ] = None,
        fusion_method: Annotated[
            Literal["rrf"], Field(description="How both rankings become one.")
        ] = "rrf",
        rrf_k: Annotated[
            int | None,
            Field(
                ge=1,
                le=1000,
                description="A larger one lets lower ranks count more; HYBRID_RRF_K by default.",
            ),
        ] = None,
        thread_id: InThread = None,
        source: FromSource = None,
        tags: WithTags = None,
        content_type: OfType = None,
        start_date: Since = None,
        end_date: Until = None,
        metadata: Having = None,
        metadata_filters: Conditions = None,
        include_images: WithImages = False,
        explain_query: Explain = False,
    ) -> HybridSearchResult:
        """Find entries by words and by meaning together; what both find comes first.

        Texts are cut short; get_context_by_ids reads them in full.
        """
        filters = EntryFilters(
            thread_id, source, tags, content_type, metadata, metadata_filters, start_date, end_date
        )
        return await threads.hybrid.search(
            query,
            search_modes,
            rrf_k,
            SearchRequest(filters, limit, offset, include_images, explain_query),
        )

    tools: list[tuple[bool, Callable[..., Awaitable[Any]], str]] = [
        (True, search_context, "Browse entries"),
        (enabled.semantic, semantic_search_context, "Search by meaning"),
        (enabled.full_text, fts_search_context, "Search by words"),
        (enabled.hybrid, hybrid_search_context, "Search by words and meaning"),
    ]
    return [Tool(run, title, toolset, Effect.READS) for is_on, run, title in tools if is_on]
