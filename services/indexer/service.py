"""Puts the indexer server together."""

from services.core.memories.model import MemoryWriter
from services.core.parts import Parts
from services.core.serving.sessions import SessionDefaults
from services.core.serving.tool import Service
from services.core.settings import Settings
from services.indexer.tools import indexer_tools

INSTRUCTIONS = (
    "The code that is being worked on, and the collections it is kept in. "
    "`memory_store` keeps what was learned from it."
)


def indexer_service(settings: Settings, parts: Parts, memories: MemoryWriter) -> Service:
    """The indexer over shared parts; memories go where the composition root says."""
    return Service(
        name="indexer",
        instructions=INSTRUCTIONS,
        tools=indexer_tools(
            parts.vectors, memories, SessionDefaults(reserved=settings.memory_collection_name)
        ),
        checks={"qdrant": parts.vectors.ping, "embedding": parts.check_model},
        http_port=settings.indexer_http_port,
        sse_port=settings.indexer_sse_port,
        advice=parts.vectors.advice,
    )
