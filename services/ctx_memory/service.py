"""Assembles the memory server: records, their projection into Qdrant, and the dialects."""

import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from ctx_core.background import BackgroundTasks
from ctx_core.engine.engine import Engine
from ctx_core.engine.query_model import QueryModelResolver
from ctx_core.errors import ModelMismatch, StorageFailed
from ctx_core.memories.collection import spec as memory_spec
from ctx_core.secrets.screen import SecretScreen
from ctx_core.serving.service import OneCollection, Reach, RestEndpoint, Service, reaching
from ctx_core.serving.sessions import SessionDefaults
from ctx_core.settings import Settings
from ctx_core.vectors.specs import CollectionSpec
from ctx_memory.conversations.conversations import (
    Conversations,
    conversation_target,
    open_conversations,
)
from ctx_memory.conversations.rest import rest_endpoint
from ctx_memory.conversations.tools import conversation_tools
from ctx_memory.knowledge.knowledge import Knowledge, open_knowledge
from ctx_memory.knowledge.tools import knowledge_tools
from ctx_memory.knowledge.tools.prompts import instructions as knowledge_instructions
from ctx_memory.knowledge.tools.prompts import knowledge_prompts
from ctx_memory.knowledge.tools.resources import knowledge_resources
from ctx_memory.memories.exchange import exchange_tools
from ctx_memory.memories.memories import Memories
from ctx_memory.memories.tools import memory_tools
from ctx_memory.projection.collections import ProjectedCollections
from ctx_memory.projection.heal import Healer
from ctx_memory.projection.outbox import Outbox
from ctx_memory.projection.rebuild import Rebuilder
from ctx_memory.records.entry import EntryKind
from ctx_memory.records.store import Records
from ctx_memory.search.points import entry_spec, memory_target
from ctx_memory.threads.search_request import EnabledSearches
from ctx_memory.threads.threads import Threads, open_threads, thread_target
from ctx_memory.threads.tools import thread_tools

log = logging.getLogger(__name__)

INSTRUCTIONS = (
    "What was learned before. `find` before solving what may have come up already; `store` a "
    "decision, pattern or pitfall. Threads keep the course of a task: `store_context` adds, the "
    "searches read. The `context_` tools keep what everybody on the project should know. "
    "Conversations keep messages by topic: `add_message`, `retrieve_context`."
)


@dataclass(frozen=True)
class EntryStorage:
    """The records, with the outbox and the healer that write their points to Qdrant."""

    records: Records
    outbox: Outbox
    healer: Healer


@dataclass(frozen=True)
class MemoryServer:
    """The memory server's service, and the parts that others in the process use."""

    service: Service
    storage: EntryStorage
    memories: Memories
    threads: Threads
    conversations: Conversations


@contextlib.asynccontextmanager
async def open_memory(settings: Settings, engine: Engine) -> AsyncIterator[MemoryServer]:
    """Open the records, heal the collections, and work in the background until the end."""
    tasks = BackgroundTasks()
    async with contextlib.AsyncExitStack() as stack:
        storage = await stack.enter_async_context(open_storage(settings, engine))
        await _heal(storage.healer)
        await stack.enter_async_context(storage.outbox.running(tasks, storage.healer.heal))
        threads = await stack.enter_async_context(
            open_threads(settings, engine, storage.records, storage.outbox, tasks)
        )
        conversations = await stack.enter_async_context(
            open_conversations(settings, engine, storage.records, storage.outbox, tasks)
        )
        memories = _memories(settings, engine, storage)
        knowledge = await stack.enter_async_context(
            open_knowledge(settings, engine, storage.records.private, memories.sessions)
        )
        about_project = await knowledge_instructions(knowledge)
        service = _service(settings, engine, storage, memories, threads, knowledge, conversations)
        service = replace(service, checks={**service.checks, "background": tasks.check})
        service = replace(service, about_project=about_project)
        yield MemoryServer(service, storage, memories, threads, conversations)


@contextlib.asynccontextmanager
async def open_storage(settings: Settings, engine: Engine) -> AsyncIterator[EntryStorage]:
    """Open the records and their projection; close the records at the end.

    Nothing is written to Qdrant before the outbox is drained or the healer is called.
    """
    records = await open_records(settings)
    try:
        targets = {
            EntryKind.MEMORY: memory_target(settings.memory_collection_name),
            EntryKind.THREAD: thread_target(settings),
            EntryKind.MESSAGE: conversation_target(settings),
        }
        collections = ProjectedCollections(engine.vectors, engine.embedder, targets)
        # Only a Qdrant server at a URL may have other writers.
        outbox = Outbox(records.outbox, collections, alone=settings.qdrant_url is None)
        healer = Healer(
            records, collections, outbox, Rebuilder(records.entries, records.outbox, collections)
        )
        yield EntryStorage(records, outbox, healer)
    finally:
        await records.close()


async def open_records(settings: Settings) -> Records:
    """Open the record store that the settings choose, migrating it where needed."""
    return await Records.open(
        settings.records_url,
        indexed_fields=settings.metadata_indexed_fields,
        language=settings.fts_language,
    )


async def _heal(healer: Healer) -> None:
    """Heal at a start; the server starts also where Qdrant is down or has another model's vectors.

    Entries are then kept in SQL, searches name the remedy, and the outbox retries.
    """
    try:
        await healer.heal()
    except StorageFailed as error:
        log.warning("starting without Qdrant: %s", error)
    except ModelMismatch as error:
        log.warning("memories cannot be searched: %s", error)


def _memories(settings: Settings, engine: Engine, storage: EntryStorage) -> Memories:
    return Memories(
        storage.records,
        storage.outbox,
        engine.vectors,
        QueryModelResolver(engine.vectors, engine.embedder, settings.models_dir),
        SessionDefaults(),
        settings.memory_collection_name,
        reserved=[
            settings.collection_name,
            settings.threads_collection_name,
            settings.knowledge_collection_name,
            settings.conversations_collection_name,
        ],
        secrets=SecretScreen(settings.redact_stored),
    )


def _service(
    settings: Settings,
    engine: Engine,
    storage: EntryStorage,
    memories: Memories,
    threads: Threads,
    knowledge: Knowledge,
    conversations: Conversations,
) -> Service:
    specs = {
        settings.memory_collection_name: memory_spec(engine.embedder),
        settings.threads_collection_name: entry_spec(EntryKind.THREAD, engine.embedder),
        settings.conversations_collection_name: entry_spec(EntryKind.MESSAGE, engine.embedder),
    }
    return Service(
        name="memory",
        instructions=INSTRUCTIONS,
        tools=[
            *reaching(
                memory_tools(memories, storage.healer, memories.sessions, knowledge.check_project),
                Reach.CHECKED,
            ),
            *reaching(
                thread_tools(threads, EnabledSearches.from_settings(settings)),
                OneCollection(settings.threads_collection_name),
            ),
            *reaching(knowledge_tools(knowledge), Reach.CHECKED),
            *reaching(
                conversation_tools(conversations, settings.summary_seconds),
                OneCollection(settings.conversations_collection_name),
            ),
        ],
        owner_tools=exchange_tools(storage.records.entries, storage.outbox, memories),
        resources=knowledge_resources(knowledge),
        prompts=knowledge_prompts(knowledge),
        checks={
            "qdrant": engine.vectors.ping,
            "sql": storage.records.ping,
            "embedding": engine.check_model,
            "entries": storage.healer.unknown.check,
        },
        http_port=settings.memory_http_port,
        sse_port=settings.memory_sse_port,
        advice=partial(_advice, engine, specs, storage.healer),
        gauges={
            **engine.gauges(),
            "outbox_waiting": lambda: float(storage.outbox.waiting),
            **conversations.calls.gauges(),
        },
        operation_times=engine.operation_times,
        rest=_rest(settings, conversations),
    )


async def _advice(engine: Engine, specs: Mapping[str, CollectionSpec], healer: Healer) -> list[str]:
    return [*await engine.advice(specs), *healer.unknown.advice()]


def _rest(settings: Settings, conversations: Conversations) -> RestEndpoint | None:
    if not settings.conversations_rest:
        return None
    endpoint = rest_endpoint(conversations, settings.conversations_port, settings.summary_seconds)
    return replace(endpoint, reach=OneCollection(settings.conversations_collection_name))
