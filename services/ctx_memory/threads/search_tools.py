"""The four thread searches as tools, with the contract's names and defaults."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from ctx_core.serving.flat_arguments import flat_arguments
from ctx_core.serving.service import Effect, Tool
from ctx_memory.records.fulltext.query import TextMode
from ctx_memory.threads.responses import (
    HybridSearchResult,
    SearchResult,
    SemanticSearchResult,
    TextSearchResult,
)
from ctx_memory.threads.search_request import (
    BrowseArguments,
    EnabledSearches,
    Query,
    SearchArguments,
)
from ctx_memory.threads.threads import Threads

Mode = Annotated[
    Literal["match", "prefix", "phrase", "boolean"],
    Field(
        description="All words in any form, words that begin so, the words in this order, "
        "or AND, OR, NOT and brackets."
    ),
]
Highlight = Annotated[bool, Field(description="Show a passage with the matching words marked.")]
SearchModes = Annotated[
    list[Literal["fts", "semantic"]] | None,
    Field(min_length=1, description="By words, by meaning; both by default."),
]
FusionMethod = Annotated[Literal["rrf"], Field(description="How both rankings become one.")]
RrfK = Annotated[
    int | None,
    Field(
        ge=1,
        le=1000,
        description="A larger one lets lower ranks count more; HYBRID_RRF_K by default.",
    ),
]


def search_tools(threads: Threads, toolset: str, enabled: EnabledSearches) -> Sequence[Tool]:
    """Return the search tools that the settings leave on; browsing always is."""

    @flat_arguments
    async def search_context(asked: BrowseArguments) -> SearchResult:
        """List entries by filters alone, the newest first.

        Texts are cut short; get_context_by_ids reads them in full.
        """
        return await threads.searches.browse(asked.request())

    @flat_arguments
    async def semantic_search_context(query: Query, asked: SearchArguments) -> SemanticSearchResult:
        """Find entries that mean something similar, whatever their words; the nearest first.

        Texts are cut short; get_context_by_ids reads them in full.
        """
        return await threads.searches.by_meaning(query, asked.request())

    @flat_arguments
    async def fts_search_context(
        *, query: Query, mode: Mode = "match", asked: SearchArguments, highlight: Highlight = False
    ) -> TextSearchResult:
        """Find entries by their words; the best match first.

        Texts are cut short; get_context_by_ids reads them in full.
        """
        return await threads.searches.by_words(query, TextMode(mode), highlight, asked.request())

    @flat_arguments
    async def hybrid_search_context(
        *,
        query: Query,
        search_modes: SearchModes = None,
        fusion_method: FusionMethod = "rrf",
        rrf_k: RrfK = None,
        asked: SearchArguments,
    ) -> HybridSearchResult:
        """Find entries by words and by meaning together; what both find comes first.

        Texts are cut short; get_context_by_ids reads them in full.
        """
        return await threads.hybrid.search(query, search_modes, rrf_k, asked.request())

    tools: list[tuple[bool, Callable[..., Awaitable[Any]], str]] = [
        (True, search_context, "Browse entries"),
        (enabled.semantic, semantic_search_context, "Search by meaning"),
        (enabled.full_text, fts_search_context, "Search by words"),
        (enabled.hybrid, hybrid_search_context, "Search by words and meaning"),
    ]
    return [Tool(run, title, toolset, Effect.READS) for is_on, run, title in tools if is_on]
