"""The arguments that the thread searches share, with the contract's names, limits and defaults."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from ctx_core.errors import InvalidInput
from ctx_core.settings import Settings
from ctx_memory.records.entry import MAX_OFFSET
from ctx_memory.search.filters import EntryFilters, check_text
from ctx_memory.search.retrievers import FTS, SEMANTIC
from ctx_memory.threads.requests import EMPTY, Source, ThreadId
from ctx_memory.threads.responses import ClampedLimit

BROWSE_LIMIT = 30
RANKED_LIMIT = 5
MAX_LIMIT = 100
# A ranked search ranks everything before the offset too; beyond this, filters do better.
MAX_RANKED_OFFSET = 10_000
MAX_QUERY_LENGTH = 5_000  # a question, not a document: full-text search looks up each word

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


@dataclass(frozen=True)
class SearchRequest:
    """Filters, page and options of one search."""

    filters: EntryFilters
    limit: int
    offset: int = 0
    include_images: bool = False
    explain: bool = False


@dataclass(frozen=True)
class SearchArguments:
    """The parameters that all thread searches have."""

    limit: Limit = RANKED_LIMIT
    offset: Offset = 0
    thread_id: InThread = None
    source: FromSource = None
    tags: WithTags = None
    content_type: OfType = None
    start_date: Since = None
    end_date: Until = None
    metadata: Having = None
    metadata_filters: Conditions = None
    include_images: WithImages = False
    explain_query: Explain = False

    def request(self) -> SearchRequest:
        """Return the same as a request; its filters are not validated yet."""
        filters = EntryFilters(
            self.thread_id,
            self.source,
            self.tags,
            self.content_type,
            self.metadata,
            self.metadata_filters,
            self.start_date,
            self.end_date,
        )
        return SearchRequest(
            filters, self.limit, self.offset, self.include_images, self.explain_query
        )


@dataclass(frozen=True)
class BrowseArguments(SearchArguments):
    """The parameters of a search without a query, whose pages are longer."""

    limit: Limit = BROWSE_LIMIT


def clamp_limit(limit: int) -> tuple[int, ClampedLimit | None]:
    """Return the limit, at most MAX_LIMIT, and how it was lowered, None where it was not."""
    if limit <= MAX_LIMIT:
        return limit, None
    return MAX_LIMIT, {"requested": limit, "applied": MAX_LIMIT}


def check_query(query: str, offset: int) -> str:
    """Return the query of a ranked search. Raises InvalidInput, also for too large an offset."""
    if not query.strip():
        raise InvalidInput("query", f"{EMPTY}: give words or a question")
    if offset > MAX_RANKED_OFFSET:
        raise InvalidInput(
            "offset",
            f"must not exceed {MAX_RANKED_OFFSET} in a ranked search; narrow it with filters, or "
            "page through search_context",
        )
    return check_text("query", query)


@dataclass(frozen=True)
class EnabledSearches:
    """The searches that are offered; a hybrid one needs one of the others."""

    full_text: bool
    semantic: bool
    hybrid: bool

    @classmethod
    def from_settings(cls, settings: Settings) -> "EnabledSearches":
        full_text, semantic = settings.enable_fts, settings.enable_semantic_search
        hybrid = settings.enable_hybrid_search and (full_text or semantic)
        return cls(full_text, semantic, hybrid)

    @property
    def modes(self) -> Sequence[str]:
        """The modes of a hybrid search."""
        on = {FTS: self.full_text, SEMANTIC: self.semantic}
        return [mode for mode, is_on in on.items() if is_on]


ALL_SEARCHES = EnabledSearches(full_text=True, semantic=True, hybrid=True)
