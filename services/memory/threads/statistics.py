"""What `get_statistics` tells: how much there is, and which features work."""

import asyncio
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from services.core.embedding.protocol import Embedder
from services.core.errors import CtxError
from services.core.vectors.protocol import VectorStore
from services.memory.records.store import Records
from services.memory.records.types import EntryKind, Statistics
from services.memory.search.points import FIRST_CHUNKS
from services.memory.search.splitter import TextSplitter
from services.memory.summaries.worker import Summaries
from services.memory.threads.requests import BYTES_A_MB

ENGINES = {"sqlite": "fts5", "postgresql": "tsvector"}
WHOLE = 100.0  # per cent


class SemanticStatus(TypedDict):
    """`embedding_count` counts chunks; `coverage_percentage` is of entries."""

    enabled: bool
    available: bool
    backend: str
    model: str
    dimensions: int
    embedding_count: int
    coverage_percentage: float
    error: NotRequired[str]


class TextStatus(TypedDict):
    """Full text is part of the database, and always on."""

    enabled: bool
    available: bool
    language: str
    backend: str
    engine: str
    indexed_entries: int
    coverage_percentage: float


class ChunkStatus(TypedDict):
    """How long texts are cut; of an entry's chunks the best counts."""

    enabled: bool
    available: bool
    chunk_size: int
    chunk_overlap: int
    aggregation: str


class RerankStatus(TypedDict):
    """Whether a cross-encoder has the last word."""

    enabled: bool
    available: bool
    provider: str | None
    model: str | None


class SummaryStatus(TypedDict):
    """`coverage_percentage` is of the entries that are long enough; `by` counts by author."""

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


class StatisticsAnswer(TypedDict):
    """What `get_statistics` answers."""

    total_entries: int
    by_source: dict[str, int]
    by_content_type: dict[str, int]
    total_images: int
    unique_tags: int
    total_threads: int
    database_size_mb: float
    database_backend: str
    connection_metrics: dict[str, dict[str, int]]
    semantic_search: SemanticStatus
    fts: TextStatus
    chunking: ChunkStatus
    reranking: RerankStatus
    summary: SummaryStatus


@dataclass(frozen=True)
class Features:
    """What was configured, as it is told."""

    language: str
    cutting: TextSplitter
    reranking: RerankStatus


class ThreadStatistics:
    """Counts entries, chunks and summaries."""

    def __init__(
        self,
        records: Records,
        store: VectorStore,
        embedder: Embedder,
        collection: str,
        summaries: Summaries,
        features: Features,
    ) -> None:
        self._records = records
        self._store = store
        self._embedder = embedder
        self._collection = collection
        self._summaries = summaries
        self._features = features

    async def all(self) -> StatisticsAnswer:
        counted = await self._records.statistics(EntryKind.THREAD)
        semantic, summary = await asyncio.gather(
            self._semantic(counted.entries), self._summary(counted)
        )
        cutting = self._features.cutting
        return {
            "total_entries": counted.entries,
            "by_source": dict(counted.by_source),
            "by_content_type": dict(counted.by_content_type),
            "total_images": counted.images,
            "unique_tags": counted.tags,
            "total_threads": counted.threads,
            "database_size_mb": round(counted.size_bytes / BYTES_A_MB, 2),
            "database_backend": self._records.dialect,
            "connection_metrics": self._records.connections(),
            "semantic_search": semantic,
            "fts": self._text(counted.entries),
            "chunking": {
                "enabled": True,
                "available": True,
                "chunk_size": cutting.size,
                "chunk_overlap": cutting.overlap,
                "aggregation": "max",
            },
            "reranking": self._features.reranking,
            "summary": summary,
        }

    async def _semantic(self, entries: int) -> SemanticStatus:
        status: SemanticStatus = {
            "enabled": True,
            "available": True,
            "backend": self._store.engine,
            "model": self._embedder.name,
            "dimensions": self._embedder.dims,
            "embedding_count": 0,
            "coverage_percentage": 0.0,
        }
        try:
            status["embedding_count"] = await self._store.count(self._collection)
            embedded = await self._store.count(self._collection, FIRST_CHUNKS)
        except CtxError as error:
            return {**status, "available": False, "error": error.message}
        status["coverage_percentage"] = share(embedded, entries)
        return status

    def _text(self, entries: int) -> TextStatus:
        """The index is written in the transaction of the entry, so it holds all of them."""
        return {
            "enabled": True,
            "available": True,
            "language": self._features.language,
            "backend": self._records.dialect,
            "engine": ENGINES[self._records.dialect],
            "indexed_entries": entries,
            "coverage_percentage": WHOLE,
        }

    async def _summary(self, counted: Statistics) -> SummaryStatus:
        summaries = self._summaries
        rules = summaries.rules
        waiting = await self._records.count_unsummarised(EntryKind.THREAD, rules.min_length)
        status: SummaryStatus = {
            "enabled": rules.enabled,
            "available": rules.enabled and summaries.failure is None,
            "provider": summaries.provider,
            "model": summaries.model,
            "summary_count": counted.summarised,
            "waiting_count": waiting,
            "coverage_percentage": share(counted.summarised, counted.summarised + waiting),
            "min_content_length": rules.min_length,
            "max_tokens": rules.max_tokens,
            "by": dict(counted.summarised_by),
        }
        return {**status, "error": summaries.failure} if summaries.failure else status


def share(part: int, whole: int) -> float:
    """Per cent; of nothing, everything."""
    return round(min(part / whole, 1.0) * 100, 2) if whole else WHOLE
