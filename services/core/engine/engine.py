"""The parts that a server stands on, opened once and handed down."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from services.core.embedding.cache import CachedEmbedder
from services.core.embedding.factory import open_embedder
from services.core.errors import (
    CollectionNotFound,
    ModelUnavailable,
    StorageFailed,
)
from services.core.settings import Settings
from services.core.vectors.factory import open_store
from services.core.vectors.protocol import VectorStore
from services.core.vectors.spec_check import spec_problem
from services.core.vectors.types import CollectionSpec

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Engine:
    """The vector store, and the embedding model of one server."""

    vectors: VectorStore
    embedder: CachedEmbedder

    async def check_model(self) -> None:
        """Readiness: the model really embeds."""
        vector = await asyncio.to_thread(self.embedder.embed_query, "ready?")
        if vector.shape != (self.embedder.dims,):
            raise ModelUnavailable(f"{self.embedder.name} gave a vector of shape {vector.shape}")

    async def advice(self, expected: Mapping[str, CollectionSpec]) -> list[str]:
        """Return what the operator should know of the store and of these collections."""
        advice = [await self.vectors.advice()]
        for name, spec in expected.items():
            with contextlib.suppress(CollectionNotFound):
                info = await self.vectors.collection_info(name)
                advice.append(spec_problem(name, info.spec, spec))
        return [text for text in advice if text]


@dataclass(frozen=True)
class Engines:
    """One vector store under both servers, and a model for each."""

    code: Engine
    memory: Engine


@contextlib.asynccontextmanager
async def open_engine(settings: Settings, model: str) -> AsyncIterator[Engine]:
    """Open the store, then the model; close both at the end."""
    async with open_vectors(settings) as vectors, _with_model(settings, vectors, model) as engine:
        yield engine


@contextlib.asynccontextmanager
async def open_engines(settings: Settings) -> AsyncIterator[Engines]:
    """For both servers in one process. A model that both use is loaded once."""
    async with contextlib.AsyncExitStack() as stack:
        vectors = await stack.enter_async_context(open_vectors(settings))
        models = dict.fromkeys((settings.code_model, settings.memory_model))
        engine = {
            model: await stack.enter_async_context(_with_model(settings, vectors, model))
            for model in models
        }
        yield Engines(engine[settings.code_model], engine[settings.memory_model])


@contextlib.asynccontextmanager
async def _with_model(
    settings: Settings, vectors: VectorStore, model: str
) -> AsyncIterator[Engine]:
    embedder = await asyncio.to_thread(open_embedder, model, settings.embedding_cache_path)
    log.info("vectors: %s; model: %s (%d)", vectors.engine, embedder.name, embedder.dims)
    try:
        yield Engine(vectors, embedder)
    finally:
        embedder.close()


@contextlib.asynccontextmanager
async def open_vectors(settings: Settings) -> AsyncIterator[VectorStore]:
    """The store that the settings choose."""
    prepare_data_dir(settings)
    secret = settings.qdrant_api_key
    vectors = await open_store(
        url=str(settings.qdrant_url) if settings.qdrant_url else None,
        api_key=secret.get_secret_value() if secret else None,
        ca_cert=settings.qdrant_ca_cert,
        binary=settings.qdrant_bin,
        folder=settings.vectors_dir,
        timeout=settings.qdrant_timeout_seconds,
    )
    try:
        yield vectors
    finally:
        await vectors.close()


def prepare_data_dir(settings: Settings) -> None:
    """The data folder, readable by its owner alone: memories are private."""
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageFailed(
            f"CTX_DATA_DIR={settings.data_dir} cannot be used: {error.strerror}. "
            "Choose a folder that you may write to."
        ) from error
