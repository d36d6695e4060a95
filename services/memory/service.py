"""Puts the memory server together."""

import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from services.core.engine.engine import Engine
from services.core.engine.query_model import QueryModelResolver
from services.core.errors import ModelMismatch, StorageFailed
from services.core.memories.collection import spec as memory_spec
from services.core.serving.service import Service
from services.core.serving.sessions import SessionDefaults
from services.core.settings import Settings
from services.memory.memories.memories import Memories
from services.memory.memories.tools import memory_tools
from services.memory.projection.outbox import Outbox
from services.memory.projection.projection import MemoryVectors, ProjectionTarget
from services.memory.records.store import Records
from services.memory.records.types import EntryKind
from services.memory.search.points import spec as thread_spec
from services.memory.threads.service import Threads, open_threads, thread_route
from services.memory.threads.tools import thread_tools

log = logging.getLogger(__name__)

INSTRUCTIONS = (
    "What was learned before. Call `find` before solving a problem that may have come up already; "
    "call `store` when something worth keeping was learned: a decision, a pattern, a pitfall. "
    "Threads keep the course of a task: `store_context` adds to one, the searches read them."
)


@dataclass(frozen=True)
class MemoryServer:
    """The service, and what is behind it for who shares the process."""

    service: Service
    memories: Memories
    threads: Threads


@contextlib.asynccontextmanager
async def open_memory(settings: Settings, engine: Engine) -> AsyncIterator[MemoryServer]:
    """Open the records, heal what a crash left, and serve until the end."""
    async with contextlib.AsyncExitStack() as stack:
        records = await open_records(settings)
        stack.push_async_callback(records.close)
        collection = settings.memory_collection_name
        outbox = open_outbox(settings, engine, records)
        await _begin(outbox)
        await stack.enter_async_context(outbox.running())
        threads = await stack.enter_async_context(open_threads(settings, engine, records, outbox))
        sessions = SessionDefaults(reserved=settings.collection_name)
        memories = Memories(
            records,
            outbox,
            engine.vectors,
            QueryModelResolver(engine.vectors, engine.embedder, settings.models_dir),
            sessions,
            collection,
            taken=[settings.threads_collection_name],
        )
        yield MemoryServer(
            Service(
                name="memory",
                instructions=INSTRUCTIONS,
                tools=[*memory_tools(memories, sessions), *thread_tools(threads)],
                checks={
                    "qdrant": engine.vectors.ping,
                    "sql": records.ping,
                    "embedding": engine.check_model,
                },
                http_port=settings.memory_http_port,
                sse_port=settings.memory_sse_port,
                advice=partial(
                    engine.advice,
                    {
                        collection: memory_spec(engine.embedder),
                        settings.threads_collection_name: thread_spec(engine.embedder),
                    },
                ),
                gauges={"outbox_waiting": lambda: float(outbox.waiting)},
            ),
            memories,
            threads,
        )


async def open_records(settings: Settings) -> Records:
    return await Records.open(
        settings.records_url,
        indexed_fields=settings.metadata_indexed_fields,
        language=settings.fts_language,
    )


def open_outbox(settings: Settings, engine: Engine, records: Records) -> Outbox:
    """The outbox with a route for every kind. Only a server at a URL may have other writers."""
    routes = {
        EntryKind.MEMORY: ProjectionTarget(MemoryVectors(), settings.memory_collection_name),
        EntryKind.THREAD: thread_route(settings),
    }
    alone = settings.qdrant_url is None
    return Outbox(records, engine.vectors, engine.embedder, routes, alone=alone)


async def _begin(outbox: Outbox) -> None:
    """Without Qdrant the server starts all the same: it keeps memories in SQL, reports itself not
    ready, and heals when Qdrant answers. With a collection of another model too: what is stored
    waits, and searching says what to do, until it is rebuilt."""
    try:
        await outbox.heal()
    except StorageFailed as error:
        log.warning("starting without Qdrant: %s", error)
    except ModelMismatch as error:
        log.warning("memories cannot be searched: %s", error)
