"""Assembles the conversations dialect over the server's records and outbox."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from ctx_core.background import BackgroundTasks
from ctx_core.engine.engine import Engine
from ctx_core.engine.query_model import QueryModelResolver
from ctx_core.llm.factory import open_decoder
from ctx_core.llm.protocol import Decoder
from ctx_core.secrets.screen import SecretScreen
from ctx_core.settings import Settings
from ctx_memory.conversations.actions import ContextMemory
from ctx_memory.conversations.calls import CallTracker
from ctx_memory.conversations.imports import import_folder
from ctx_memory.conversations.messages import Messages
from ctx_memory.conversations.relations import Relations
from ctx_memory.conversations.requests import IgnorePatterns
from ctx_memory.conversations.similarity import Similarity
from ctx_memory.conversations.summaries.hierarchies import HierarchySummariser
from ctx_memory.conversations.summaries.queue import SummaryQueue
from ctx_memory.conversations.summaries.summariser import ConversationSummariser
from ctx_memory.conversations.summaries.worker import ConversationWorker
from ctx_memory.conversations.upkeep import Upkeep
from ctx_memory.projection.drains import BackgroundDrain
from ctx_memory.projection.outbox import Outbox
from ctx_memory.projection.projection import ProjectionTarget
from ctx_memory.records.conversations.calls import CallType
from ctx_memory.records.conversations.conversations import SummaryThresholds
from ctx_memory.records.conversations.store import ConversationStore
from ctx_memory.records.entry import EntryKind
from ctx_memory.records.store import Records
from ctx_memory.search.entry_search import EntrySearch
from ctx_memory.search.points import EntryProjection, entry_spec
from ctx_memory.search.semantic import SemanticRetriever
from ctx_memory.search.splitter import TextSplitter
from ctx_memory.summaries.writer import SummaryWriter

MODEL_TOKENS = 4096  # TOKEN_LIMIT_PERCENTAGE is a share of these tokens, as in the contract
IMPORTANT_MESSAGES = 2  # so many important messages after a summary cause the next one


@dataclass(frozen=True)
class Conversations:
    """The parts of the dialect, which its tools and the REST API call."""

    records: ConversationStore
    messages: Messages
    relations: Relations
    similarity: Similarity
    upkeep: Upkeep
    calls: CallTracker
    actions: ContextMemory
    worker: ConversationWorker
    drain: BackgroundDrain


def conversation_target(settings: Settings) -> ProjectionTarget:
    """Return the collection that messages are written to, and their projection."""
    projection = EntryProjection(EntryKind.MESSAGE, TextSplitter())
    return ProjectionTarget(projection, settings.conversations_collection_name)


@contextlib.asynccontextmanager
async def open_conversations(
    settings: Settings, engine: Engine, records: Records, outbox: Outbox, tasks: BackgroundTasks
) -> AsyncIterator[Conversations]:
    """Import the folder CONTEXT_DIR, then work in the background until the end."""
    async with contextlib.AsyncExitStack() as stack:
        decoder = await stack.enter_async_context(open_decoder(settings))
        conversations = _conversations(settings, engine, records, outbox, decoder)
        if settings.context_dir is not None:
            secrets = SecretScreen(settings.redact_stored)
            await import_folder(conversations.records.imports, settings.context_dir, secrets)
            conversations.drain.soon()
        await conversations.calls.refresh()
        await stack.enter_async_context(conversations.drain.running(tasks))
        await stack.enter_async_context(conversations.worker.running(tasks))
        yield conversations


def _conversations(
    settings: Settings,
    engine: Engine,
    records: Records,
    outbox: Outbox,
    decoder: Decoder | None,
) -> Conversations:
    stored = ConversationStore(records.database, settings.conversations_collection_name)
    calls = CallTracker(stored.calls, settings.track_api_calls, settings.api_analytics_retention)
    drain = BackgroundDrain(outbox, lambda seconds: calls.add(CallType.VECTOR_DB_ADD, seconds))
    writer = SummaryWriter(decoder, settings.summary_max_tokens, settings.decoder_context_tokens)
    summariser = ConversationSummariser(stored, writer, calls.tracked)
    thresholds = _thresholds(settings)
    queue = SummaryQueue()
    ignored = IgnorePatterns(settings.ignore_patterns)
    relations = Relations(stored, ignored, calls, queue, enabled=settings.use_graph_db)
    similarity = Similarity(
        records.entries,
        records.texts,
        stored.messages,
        _semantic(settings, engine, records, outbox) if settings.use_vector_db else None,
        drain,
        calls,
        by_words=settings.fallback_to_keyword_match,
    )
    upkeep = Upkeep(
        stored,
        relations,
        similarity,
        drain,
        calls,
        threshold=settings.similarity_threshold,
        link=settings.use_graph_db,
        clean_up=settings.auto_cleanup_contexts,
    )
    hierarchies = _hierarchies(settings, stored, writer, calls)
    worker = ConversationWorker(
        stored.conversations, queue, summariser, hierarchies, upkeep, thresholds
    )
    secrets = SecretScreen(settings.redact_stored)
    messages = Messages(stored, relations, ignored, secrets, summariser, queue, drain, thresholds)
    actions = ContextMemory(messages, relations, similarity, upkeep, read_only=settings.read_only)
    return Conversations(
        stored, messages, relations, similarity, upkeep, calls, actions, worker, drain
    )


def _thresholds(settings: Settings) -> SummaryThresholds | None:
    if not settings.auto_summarize:
        return None
    return SummaryThresholds(
        messages=settings.message_limit_threshold,
        tokens=max(1, int(MODEL_TOKENS * settings.token_limit_percentage / 100)),
        important=IMPORTANT_MESSAGES,
    )


def _hierarchies(
    settings: Settings, stored: ConversationStore, writer: SummaryWriter, calls: CallTracker
) -> HierarchySummariser | None:
    if not (settings.hierarchical_context and settings.use_graph_db):
        return None
    return HierarchySummariser(
        stored,
        writer,
        calls.tracked,
        settings.max_hierarchy_depth,
        settings.meta_summary_threshold,
    )


def _semantic(
    settings: Settings, engine: Engine, records: Records, outbox: Outbox
) -> SemanticRetriever:
    collection = settings.conversations_collection_name
    search = EntrySearch(engine.vectors, records.entries, outbox, collection, TextSplitter())
    models = QueryModelResolver(engine.vectors, engine.embedder, settings.models_dir)
    spec = entry_spec(EntryKind.MESSAGE, engine.embedder)
    return SemanticRetriever(search, models, spec, collection)
