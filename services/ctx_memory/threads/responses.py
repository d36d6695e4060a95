"""Results of the thread tools, key by key as in the contract."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from ctx_core.errors import CtxError, error_body
from ctx_memory.threads.render import SearchHit


class StoreResult(TypedDict):
    """The result of `store_context`."""

    success: bool
    context_id: int
    thread_id: str
    message: str
    warnings: NotRequired[list[str]]


class UpdateResult(TypedDict):
    """The result of `update_context`."""

    success: bool
    context_id: int
    updated_fields: list[str]
    message: str
    warnings: NotRequired[list[str]]


class DeleteResult(TypedDict):
    """The result of `delete_context`."""

    success: bool
    deleted_count: int
    message: str
    warnings: NotRequired[list[str]]


class DeleteBatchResult(DeleteResult):
    """The result of `delete_context_batch`."""

    criteria_used: list[str]


class BatchItemResult(TypedDict):
    """The result of one item of a batch; `index` is its position in the list, from 0."""

    index: int
    success: bool
    context_id: int | None
    error: str | None
    thread_id: NotRequired[str]
    updated_fields: NotRequired[list[str]]


class BatchResult(TypedDict):
    """The result of `store_context_batch` and `update_context_batch`."""

    success: bool
    total: int
    succeeded: int
    failed: int
    results: list[BatchItemResult]
    message: str
    warnings: NotRequired[list[str]]


class ThreadResult(TypedDict):
    """One thread of `list_threads`; `sources` counts the entries of each of `source_types`."""

    thread_id: str
    entry_count: int
    source_types: int
    sources: dict[str, int]
    multimodal_count: int
    first_entry: str
    last_entry: str
    last_id: int


class ThreadListResult(TypedDict):
    """The result of `list_threads`; `total_threads` counts those of all pages."""

    threads: list[ThreadResult]
    total_threads: int
    warnings: NotRequired[list[str]]
    clamped_limit: NotRequired["ClampedLimit"]


class ClampedLimit(TypedDict):
    """A limit that was lowered to the largest there is."""

    requested: int
    applied: int


class SearchResult(TypedDict):
    """The keys that all searches share; `total`, of `search_context` only, counts all pages.

    With `error` nothing was searched: `validation_errors` lists the faults of the filters.
    """

    results: list[SearchHit]
    count: int
    total: NotRequired[int]
    stats: NotRequired[dict[str, Any]]
    warnings: NotRequired[list[str]]
    clamped_limit: NotRequired[ClampedLimit]
    error: NotRequired[str]
    validation_errors: NotRequired[list[str]]


class SemanticSearchResult(SearchResult):
    """The result of `semantic_search_context`."""

    query: str
    model: str


class TextSearchResult(SearchResult):
    """The result of `fts_search_context`."""

    query: str
    mode: str
    language: str
    fts_available: bool


class HybridSearchResult(SearchResult):
    """The result of `hybrid_search_context`."""

    query: str
    fusion_method: str
    search_modes_used: list[str]
    fts_count: int
    semantic_count: int


def thread_error_body(error: CtxError) -> dict[str, Any]:
    """Return the body of an error with `success`, and of an atomic batch with its result."""
    body = error_body(error)
    batch = body["details"].pop("batch", {})
    return {**body, "success": False, **batch}
