"""Assembles the threads dialect over the server's records and outbox."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from ctx_core.background import BackgroundTasks
from ctx_core.blocking import COMPUTE
from ctx_core.engine.engine import Engine
from ctx_core.engine.query_model import QueryModelResolver
from ctx_core.llm.factory import open_decoder
from ctx_core.rerank.reranker import RerankStage, open_stage
from ctx_core.secrets.screen import SecretScreen
from ctx_core.settings import Settings
from ctx_memory.projection.outbox import Outbox
from ctx_memory.projection.projection import ProjectionTarget
from ctx_memory.records.entry import EntryKind
from ctx_memory.records.store import Records
from ctx_memory.search.entry_search import EntrySearch
from ctx_memory.search.pages import RankedPages
from ctx_memory.search.points import EntryProjection, entry_spec
from ctx_memory.search.retrievers import Retrievers
from ctx_memory.search.semantic import SemanticRetriever
from ctx_memory.search.splitter import TextSplitter
from ctx_memory.summaries.worker import SummaryRules, SummaryWorker
from ctx_memory.threads.batches import Batches
from ctx_memory.threads.entries import ThreadEntries
from ctx_memory.threads.hybrid import HybridSearch
from ctx_memory.threads.render import Results
from ctx_memory.threads.requests import ImageLimits
from ctx_memory.threads.search_request import EnabledSearches
from ctx_memory.threads.searches import Searches
from ctx_memory.threads.statistics import ConfiguredFeatures, RerankStatus, ThreadStatistics


@dataclass(frozen=True)
class Threads:
    """The parts of the dialect, which the thread tools call."""

    entries: ThreadEntries
    batches: Batches
    searches: Searches
    hybrid: HybridSearch
    statistics: ThreadStatistics
    summaries: SummaryWorker


def thread_target(settings: Settings) -> ProjectionTarget:
    """Return where thread entries are written, and how."""
    projection = EntryProjection(EntryKind.THREAD, TextSplitter())
    return ProjectionTarget(projection, settings.threads_collection_name)


@contextlib.asynccontextmanager
async def open_threads(
    settings: Settings, engine: Engine, records: Records, outbox: Outbox, tasks: BackgroundTasks
) -> AsyncIterator[Threads]:
    """Load the models of the threads dialect, and write summaries until the end."""
    async with contextlib.AsyncExitStack() as stack:
        decoder = await stack.enter_async_context(open_decoder(settings))
        rules = SummaryRules(
            settings.enable_summary_generation,
            settings.summary_max_tokens,
            settings.decoder_context_tokens,
        )
        summaries = SummaryWorker(
            records.entries, records.summaries, EntryKind.THREAD, decoder, rules
        )
        stage = await _rerank_stage(settings)
        threads = _threads(settings, engine, records, outbox, summaries, stage)
        if rules.enabled:
            await stack.enter_async_context(summaries.running(tasks))
        yield threads


async def _rerank_stage(settings: Settings) -> RerankStage | None:
    """Load the reranker at the start, not in a request."""
    if not settings.enable_reranking:
        return None
    return await COMPUTE.run(
        open_stage, settings.rerank_model, settings.models_dir, settings.rerank_timeout_seconds
    )


def _threads(
    settings: Settings,
    engine: Engine,
    records: Records,
    outbox: Outbox,
    summaries: SummaryWorker,
    stage: RerankStage | None,
) -> Threads:
    collection, language = settings.threads_collection_name, settings.fts_language
    splitter = TextSplitter()
    limits = ImageLimits.from_settings(settings)
    secrets = SecretScreen(settings.redact_stored)
    entries = ThreadEntries(
        records.entries, records.counts, outbox, collection, limits, secrets, summaries.wake
    )
    entry_search = EntrySearch(engine.vectors, records.entries, outbox, collection, splitter)
    models = QueryModelResolver(engine.vectors, engine.embedder, settings.models_dir)
    spec = entry_spec(EntryKind.THREAD, engine.embedder)
    semantic = SemanticRetriever(entry_search, models, spec, collection)
    retrievers = Retrievers(records.entries, records.texts, semantic, entry_search)
    pages = RankedPages(records.entries, splitter, stage)
    results = Results(records.entries, settings.search_truncation_length)
    enabled = EnabledSearches.from_settings(settings)
    features = ConfiguredFeatures(language, splitter, _rerank_status(settings, stage), enabled)
    return Threads(
        entries=entries,
        batches=Batches(entries),
        searches=Searches(records.entries, records.texts, semantic, pages, results),
        hybrid=HybridSearch(
            records.entries, retrievers, pages, results, settings.hybrid_rrf_k, enabled.modes
        ),
        statistics=ThreadStatistics(
            records, engine.vectors, engine.embedder, collection, summaries, features
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
