"""Puts the indexer server together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from services.core.engine.engine import Engine
from services.core.engine.query_model import QueryModelResolver
from services.core.memories.types import MemoryWriter
from services.core.rerank.stage import open_stage
from services.core.serving.service import Service
from services.core.serving.sessions import SessionDefaults
from services.core.settings import Settings
from services.indexer.schema.points import spec
from services.indexer.search.rerank import CodeReranker
from services.indexer.search.searcher import Searcher
from services.indexer.search.snippet import Cut
from services.indexer.tools import indexer_tools
from services.indexer.tools.context import IndexerContext, open_desk

INSTRUCTIONS = (
    "The code that is being worked on. Call `repo_search` with words, a question or a symbol "
    "before reading files; call `qdrant_index` when the code changed a lot. `memory_store` keeps "
    "what was learned."
)


@dataclass(frozen=True)
class IndexerServer:
    """The service, and what indexes and searches behind it for who shares the process."""

    service: Service
    desk: IndexerContext
    searcher: Searcher


@contextlib.asynccontextmanager
async def open_indexer(
    settings: Settings, engine: Engine, memories: MemoryWriter
) -> AsyncIterator[IndexerServer]:
    """The indexer over shared parts; memories go where the composition root says."""
    sessions = SessionDefaults(reserved=settings.memory_collection_name)
    desk = await asyncio.to_thread(open_desk, settings, engine, sessions)
    searcher = await open_searcher(settings, engine)
    service = Service(
        name="indexer",
        instructions=INSTRUCTIONS,
        tools=indexer_tools(
            desk,
            searcher,
            memories,
            default_repo(settings),
            Cut(settings.micro_chunk_tokens, settings.micro_chunk_stride),
        ),
        checks={"qdrant": engine.vectors.ping, "embedding": engine.check_model},
        http_port=settings.indexer_http_port,
        sse_port=settings.indexer_sse_port,
        advice=partial(engine.advice, {settings.collection_name: spec(engine.embedder)}),
    )
    try:
        yield IndexerServer(service, desk, searcher)
    finally:
        desk.close()


async def open_searcher(settings: Settings, engine: Engine) -> Searcher:
    """With the reranker that is configured, loaded now and not in a request."""
    stage = await asyncio.to_thread(
        open_stage, settings.rerank_model, settings.models_dir, settings.rerank_timeout_seconds
    )
    second = None
    if stage is not None:
        second = CodeReranker(
            stage,
            blend=settings.rerank_blend_weight,
            symbol_boost=settings.post_rerank_symbol_boost,
        )
    models = QueryModelResolver(engine.vectors, engine.embedder, settings.models_dir)
    return Searcher(engine.vectors, engine.embedder, second=second, models=models)


def default_repo(settings: Settings) -> str | None:
    """The repo that a search is limited to when it names none."""
    return settings.current_repo if settings.repo_auto_filter else None
