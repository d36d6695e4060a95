"""Puts the memory server together."""

import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass

from services.core.errors import StorageFailed
from services.core.parts import Parts
from services.core.serving.sessions import SessionDefaults
from services.core.serving.tool import Service
from services.core.settings import Settings
from services.memory.entries import Memories
from services.memory.outbox import Outbox
from services.memory.records import Records
from services.memory.tools import memory_tools

log = logging.getLogger(__name__)

INSTRUCTIONS = (
    "What was learned before. Call `find` before solving a problem that may have come up already; "
    "call `store` when something worth keeping was learned: a decision, a pattern, a pitfall."
)


@dataclass(frozen=True)
class MemoryServer:
    """The service, and the memories behind it for who shares the process."""

    service: Service
    memories: Memories


@contextlib.asynccontextmanager
async def open_memory(settings: Settings, parts: Parts) -> AsyncIterator[MemoryServer]:
    """Open the records, heal what a crash left, and serve until the end."""
    async with contextlib.AsyncExitStack() as stack:
        records = await Records.open(settings.records_url)
        stack.push_async_callback(records.close)
        collection = settings.memory_collection_name
        outbox = Outbox(records, parts.vectors, parts.embedder, collection)
        await _begin(outbox)
        await stack.enter_async_context(outbox.running())
        sessions = SessionDefaults(reserved=settings.collection_name)
        memories = Memories(records, outbox, parts.vectors, parts.embedder, sessions, collection)
        yield MemoryServer(
            Service(
                name="memory",
                instructions=INSTRUCTIONS,
                tools=memory_tools(memories, sessions),
                checks={
                    "qdrant": parts.vectors.ping,
                    "sql": records.ping,
                    "embedding": parts.check_model,
                },
                http_port=settings.memory_http_port,
                sse_port=settings.memory_sse_port,
                advice=parts.vectors.advice,
                gauges={"outbox_waiting": lambda: float(outbox.waiting)},
            ),
            memories,
        )


async def _begin(outbox: Outbox) -> None:
    """Without Qdrant the server starts all the same: it keeps memories in SQL, reports itself not
    ready, and heals when Qdrant answers. A collection of another model stops the start."""
    try:
        await outbox.heal()
    except StorageFailed as error:
        log.warning("starting without Qdrant: %s", error)
