"""Puts the threads together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from services.core.engine.engine import Engine
from services.core.engine.query_model import QueryModelResolver
from services.core.llm.factory import open_decoder
from services.core.rerank.stage import RerankStage, open_stage
from services.core.settings import Settings
from services.memory.projection.outbox import Outbox
from services.memory.projection.projection import ProjectionTarget
from services.memory.records.store import Records
from services.memory.search.entry_search import EntrySearch
from services.memory.search.points import FIRST_CHUNKS, EntryProjection
from services.memory.search.retrievers import Retrievers
from services.memory.search.semantic import SemanticRetriever
from services.memory.search.splitter import TextSplitter
from services.memory.summaries.worker import Rules, Summaries
from services.memory.threads.batches import Batches
from services.memory.threads.entries import Entries
from services.memory.threads.hybrid import HybridSearcher
from services.memory.threads.requests import ImageLimits
from services.memory.threads.results import Results
from services.memory.threads.searches import Searcher
from services.memory.threads.statistics import Features, RerankStatus, ThreadStatistics


@dataclass(frozen=True)
class Threads:
    """What the thread tools stand on."""

    entries: Entries
    batches: Batches
    searcher: Searcher
    hybrid: HybridSearcher
    statistics: ThreadStatistics
    summaries: Summaries


def thread_target(settings: Settings) -> ProjectionTarget:
    """Return where thread entries are written, and how."""
    projection = EntryProjection(TextSplitter(settings.chunk_size, settings.chunk_overlap))
    return ProjectionTarget(projection, settings.threads_collection_name, FIRST_CHUNKS)


@contextlib.asynccontextmanager
async def open_threads(
    settings: Settings, engine: Engine, records: Records, outbox: Outbox
) -> AsyncIterator[Threads]:
    """The threads over the server's records and outbox; summaries are written meanwhile."""
    async with contextlib.AsyncExitStack() as stack:
        decoder = await stack.enter_async_context(open_decoder(settings))
        rules = Rules(
            settings.enable_summary_generation,
            settings.summary_min_content_length,
            settings.summary_max_tokens,
            settings.decoder_context_tokens,
        )
        summaries = Summaries(records, decoder, rules)
        stage = await _rerank_stage(settings)
        threads = _threads(settings, engine, records, outbox, summaries, stage)
        if rules.enabled:
            await stack.enter_async_context(summaries.running())
        yield threads


async def _rerank_stage(settings: Settings) -> RerankStage | None:
    """Load the reranker at the start, not in a request."""
    if not settings.enable_reranking:
        return None
    return await asyncio.to_thread(
        open_stage, settings.rerank_model, settings.models_dir, settings.rerank_timeout_seconds
    )


def _threads(
    settings: Settings,
    engine: Engine,
    records: Records,
    outbox: Outbox,
    summaries: Summaries,
    stage: RerankStage | None,
) -> Threads:
    collection = settings.threads_collection_name
    cutting = TextSplitter(settings.chunk_size, settings.chunk_overlap)
    results = Results(records, settings.search_truncation_length, cutting, stage)
    points = EntrySearch(engine.vectors, records, outbox, collection)
    models = QueryModelResolver(engine.vectors, engine.embedder, settings.models_dir)
    spec = EntryProjection(cutting).collection_spec(engine.embedder)
    meaning = SemanticRetriever(points, models, spec, collection)
    legs = Retrievers(records, meaning, points, settings.fts_language)

    entries = Entries(records, outbox, collection, ImageLimits.of(settings), summaries.wake)
    return Threads(
        entries=entries,
        batches=Batches(entries),
        searcher=Searcher(records, meaning, results, settings.fts_language),
        hybrid=HybridSearcher(records, legs, results, settings.hybrid_rrf_k),
        statistics=ThreadStatistics(
            records,
            engine.vectors,
            engine.embedder,
            collection,
            summaries,
            Features(settings.fts_language, cutting, _rerank_status(settings, stage)),
        ),
        summaries=summaries,
    )


def _rerank_status(settings: Settings, stage: RerankStage | None) -> RerankStatus:
    return {
        "enabled": settings.enable_reranking,
        "available": stage is not None,
        "provider": None if stage is None else "cross-encoder",
        "model": None if stage is None else stage.model,
    }
