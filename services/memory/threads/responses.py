"""What the thread tools answer, key by key as in the contract."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from services.memory.threads.render import HitView


class StoreAnswer(TypedDict):
    """What `store_context` answers."""

    success: bool
    context_id: int
    thread_id: str
    message: str
    warnings: NotRequired[list[str]]


class UpdateAnswer(TypedDict):
    """What `update_context` answers."""

    success: bool
    context_id: int
    updated_fields: list[str]
    message: str
    warnings: NotRequired[list[str]]


class DeleteAnswer(TypedDict):
    """What `delete_context` answers."""

    success: bool
    deleted_count: int
    message: str
    warnings: NotRequired[list[str]]


class DeleteBatchAnswer(DeleteAnswer):
    """What `delete_context_batch` answers."""

    criteria_used: list[str]


class BatchItem(TypedDict):
    """What became of one item of a batch; `index` is its place in the list, from 0."""

    index: int
    success: bool
    context_id: int | None
    error: str | None
    thread_id: NotRequired[str]
    updated_fields: NotRequired[list[str]]


class BatchAnswer(TypedDict):
    """What the batch tools answer."""

    success: bool
    total: int
    succeeded: int
    failed: int
    results: list[BatchItem]
    message: str
    warnings: NotRequired[list[str]]


class ThreadView(TypedDict):
    """One thread of `list_threads`; `source_types` counts the entries of each source."""

    thread_id: str
    entry_count: int
    source_types: dict[str, int]
    multimodal_count: int
    first_entry: str
    last_entry: str
    last_id: int


class ThreadList(TypedDict):
    """What `list_threads` answers."""

    threads: list[ThreadView]
    total_threads: int


class SearchAnswer(TypedDict):
    """What every search answers; `search_context` answers no more than this."""

    results: list[HitView]
    count: int
    stats: NotRequired[dict[str, Any]]
    warnings: NotRequired[list[str]]
    validation_errors: NotRequired[list[str]]


class SemanticAnswer(SearchAnswer):
    """What `semantic_search_context` answers."""

    query: str
    model: str


class TextAnswer(SearchAnswer):
    """What `fts_search_context` answers."""

    query: str
    mode: str
    language: str


class HybridAnswer(SearchAnswer):
    """What `hybrid_search_context` answers."""

    query: str
    fusion_method: str
    search_modes_used: list[str]
    fts_count: int
    semantic_count: int
