"""The result of `get_statistics`: how many entries there are, and which features work."""

import asyncio
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import CtxError
from ctx_core.vectors.protocol import VectorStore
from ctx_memory.records.counts import Statistics
from ctx_memory.records.entry import EntryKind
from ctx_memory.records.store import Records
from ctx_memory.search.points import ONE_POINT_PER_ENTRY
from ctx_memory.search.splitter import TextSplitter
from ctx_memory.summaries.worker import MIN_LENGTH, SummaryWorker
from ctx_memory.threads.requests import BYTES_PER_MB
from ctx_memory.threads.search_request import EnabledSearches

ENGINES = {"sqlite": "fts5", "postgresql": "tsvector"}
FULL_COVERAGE = 100.0  # per cent


class SearchSwitch(TypedDict):
    """Whether a search is switched on and works; all there is to say of one that is off."""

    enabled: bool
    available: bool


class SemanticStatus(SearchSwitch):
    """The state of semantic search; `embedding_count` counts chunks, `context_count` entries."""

    backend: str
    model: str
    dimensions: int
    context_count: int
    embedding_count: int
    average_chunks_per_entry: float
    coverage_percentage: float
    error: NotRequired[str]


class TextStatus(SearchSwitch):
    """The state of full-text search, which is part of the database."""

    language: str
    backend: str
    engine: str
    indexed_entries: int
    coverage_percentage: float


class ChunkStatus(TypedDict):
    """How long texts are split; an entry scores as its best chunk."""

    enabled: bool
    available: bool
    chunk_size: int
    chunk_overlap: int
    aggregation: str


class RerankStatus(TypedDict):
    """Whether a cross-encoder reranks."""

    enabled: bool
    available: bool
    provider: str | None
    model: str | None


class SummaryStatus(TypedDict):
    """The state of summaries; the coverage is of long entries, `by` counts by author."""

    enabled: bool
    available: bool
    provider: str
    model: str | None
    summary_count: int
    waiting_count: int
    coverage_percentage: float
    min_content_length: int
    max_tokens: int
    by: dict[str, int]
    error: NotRequired[str]


class ThreadCount(TypedDict):
    """A thread and how many entries it has."""

    thread_id: str
    count: int


class TagCount(TypedDict):
    """A tag and how many entries have it."""

    tag: str
    count: int


class StatisticsResult(TypedDict):
    """The result of `get_statistics`."""

    total_entries: int
    by_source: dict[str, int]
    by_content_type: dict[str, int]
    total_images: int
    unique_tags: int
    total_threads: int
    avg_entries_per_thread: float
    most_active_threads: list[ThreadCount]
    top_tags: list[TagCount]
    backend: str
    database_size_mb: float
    connection_metrics: dict[str, dict[str, int]]
    semantic_search: SemanticStatus | SearchSwitch
    fts: TextStatus | SearchSwitch
    hybrid_search: SearchSwitch
    chunking: ChunkStatus
    reranking: RerankStatus
    summary: SummaryStatus


@dataclass(frozen=True)
class ConfiguredFeatures:
    """The settings that `get_statistics` reports."""

    language: str
    splitter: TextSplitter
    reranking: RerankStatus
    searches: EnabledSearches


class ThreadStatistics:
    """Counts entries, chunks and summaries."""

    def __init__(
        self,
        records: Records,
        store: VectorStore,
        embedder: Embedder,
        collection: str,
        summaries: SummaryWorker,
        features: ConfiguredFeatures,
    ) -> None:
        self._records = records
        self._store = store
        self._embedder = embedder
        self._collection = collection
        self._summaries = summaries
        self._features = features

    async def all(self) -> StatisticsResult:
        """Count everything. Where Qdrant fails, `semantic_search` has the error."""
        counted = await self._records.counts.statistics(EntryKind.THREAD)
        semantic, summary = await asyncio.gather(
            self._semantic(counted.entries), self._summary(counted)
        )
        splitter, searches = self._features.splitter, self._features.searches
        return {
            "total_entries": counted.entries,
            "by_source": dict(counted.by_source),
            "by_content_type": dict(counted.by_content_type),
            "total_images": counted.images,
            "unique_tags": counted.tags,
            "total_threads": counted.threads,
            "avg_entries_per_thread": _average(counted.entries, counted.threads),
            "most_active_threads": [
                {"thread_id": thread, "count": count} for thread, count in counted.most_active
            ],
            "top_tags": [{"tag": tag, "count": count} for tag, count in counted.top_tags],
            "backend": self._records.dialect,
            "database_size_mb": round(counted.size_bytes / BYTES_PER_MB, 2),
            "connection_metrics": self._records.connections(),
            "semantic_search": semantic,
            "fts": self._text(counted.entries),
            "hybrid_search": _switch(searches.hybrid),
            "chunking": {
                "enabled": True,
                "available": True,
                "chunk_size": splitter.size,
                "chunk_overlap": splitter.overlap,
                "aggregation": "max",
            },
            "reranking": self._features.reranking,
            "summary": summary,
        }

    async def _semantic(self, entries: int) -> SemanticStatus | SearchSwitch:
        if not self._features.searches.semantic:
            return _switch(False)
        status: SemanticStatus = {
            "enabled": True,
            "available": True,
            "backend": self._store.engine,
            "model": self._embedder.name,
            "dimensions": self._embedder.dims,
            "context_count": 0,
            "embedding_count": 0,
            "average_chunks_per_entry": 0.0,
            "coverage_percentage": 0.0,
        }
        try:
            chunks = await self._store.count(self._collection)
            embedded = await self._store.count(self._collection, ONE_POINT_PER_ENTRY)
        except CtxError as error:
            return {**status, "available": False, "error": error.message}
        return {
            **status,
            "context_count": embedded,
            "embedding_count": chunks,
            "average_chunks_per_entry": _average(chunks, embedded),
            "coverage_percentage": percentage(embedded, entries),
        }

    def _text(self, entries: int) -> TextStatus | SearchSwitch:
        """Report full coverage: the index is written in the transaction of the entry."""
        if not self._features.searches.full_text:
            return _switch(False)
        return {
            "enabled": True,
            "available": True,
            "language": self._features.language,
            "backend": self._records.dialect,
            "engine": ENGINES[self._records.dialect],
            "indexed_entries": entries,
            "coverage_percentage": FULL_COVERAGE,
        }

    async def _summary(self, counted: Statistics) -> SummaryStatus:
        summaries = self._summaries
        rules = summaries.rules
        waiting = await self._records.summaries.count_due(EntryKind.THREAD, MIN_LENGTH)
        status: SummaryStatus = {
            "enabled": rules.enabled,
            "available": rules.enabled and summaries.failure is None,
            "provider": summaries.provider,
            "model": summaries.model,
            "summary_count": counted.summarised,
            "waiting_count": waiting,
            "coverage_percentage": percentage(counted.summarised, counted.summarised + waiting),
            "min_content_length": MIN_LENGTH,
            "max_tokens": rules.max_tokens,
            "by": dict(counted.summarised_by),
        }
        return {**status, "error": summaries.failure} if summaries.failure else status


def _switch(is_on: bool) -> SearchSwitch:
    return {"enabled": is_on, "available": is_on}


def _average(total: int, count: int) -> float:
    return round(total / count, 2) if count else 0.0


def percentage(part: int, whole: int) -> float:
    """Return a share in per cent; full coverage where there is nothing to cover."""
    return round(min(part / whole, 1.0) * 100, 2) if whole else FULL_COVERAGE
