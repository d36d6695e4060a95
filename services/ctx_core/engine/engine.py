"""Open the engine of a server: the vector store and its embedding model."""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.cache import CachedEmbedder
from ctx_core.embedding.factory import open_embedder
from ctx_core.errors import (
    CollectionNotFound,
    ModelUnavailable,
    StorageFailed,
)
from ctx_core.settings import Settings
from ctx_core.vectors.factory import open_store
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.spec_check import spec_problem
from ctx_core.vectors.specs import CollectionSpec, Distribution
from ctx_core.vectors.timed import OperationTimes, operation_times, timed

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Engine:
    """The vector store, and the embedding model of one server."""

    vectors: VectorStore
    embedder: CachedEmbedder

    async def check_model(self) -> None:
        """Check readiness by embedding a text. Raises ModelUnavailable."""
        vector = await COMPUTE.run(self.embedder.embed_query, "ready?")
        if vector.shape != (self.embedder.dims,):
            raise ModelUnavailable(f"{self.embedder.name} gave a vector of shape {vector.shape}")

    def gauges(self) -> dict[str, Callable[[], float]]:
        """Return the metrics of the embedding cache."""
        embedder = self.embedder
        return {
            "embedding_cache_failures": lambda: float(embedder.cache_failures),
            "embedding_cache_hits": lambda: float(embedder.cache_hits),
            "embedding_cache_misses": lambda: float(embedder.cache_misses),
        }

    def operation_times(self) -> Mapping[str, OperationTimes]:
        """Return the calls to Qdrant since the start, by operation."""
        return operation_times(self.vectors)

    async def advice(self, expected: Mapping[str, CollectionSpec]) -> list[str]:
        """Return advice to the operator about the store and these collections."""
        advice = [await self.vectors.advice(), self.embedder.cache_problem]
        for name, spec in expected.items():
            with contextlib.suppress(CollectionNotFound):
                info = await self.vectors.collection_info(name)
                advice.append(spec_problem(name, info.spec, spec))
        return [text for text in advice if text]


@dataclass(frozen=True)
class Engines:
    """The engines of both servers, over one vector store."""

    code: Engine
    memory: Engine


@contextlib.asynccontextmanager
async def open_engine(settings: Settings, model: str) -> AsyncIterator[Engine]:
    """Open the vector store and a model; close both at the end."""
    async with open_vectors(settings) as vectors, _with_model(settings, vectors, model) as engine:
        yield engine


@contextlib.asynccontextmanager
async def open_engines(settings: Settings) -> AsyncIterator[Engines]:
    """Open the engines of both servers in one process. A model that both use is loaded once."""
    async with contextlib.AsyncExitStack() as stack:
        vectors = await stack.enter_async_context(open_vectors(settings))
        models = dict.fromkeys((settings.code_model, settings.memory_model))
        engines = {
            model: await stack.enter_async_context(_with_model(settings, vectors, model))
            for model in models
        }
        yield Engines(engines[settings.code_model], engines[settings.memory_model])


@contextlib.asynccontextmanager
async def _with_model(
    settings: Settings, vectors: VectorStore, model: str
) -> AsyncIterator[Engine]:
    embedder = await COMPUTE.run(open_embedder, model, settings.embedding_cache_path)
    log.info("vectors: %s; model: %s (%d)", vectors.engine, embedder.name, embedder.dims)
    try:
        yield Engine(timed(vectors), embedder)
    finally:
        embedder.close()


@contextlib.asynccontextmanager
async def open_vectors(settings: Settings) -> AsyncIterator[VectorStore]:
    """Open the vector store that the settings choose; close it at the end."""
    prepare_data_dir(settings)
    secret = settings.qdrant_api_key
    vectors = await open_store(
        url=str(settings.qdrant_url) if settings.qdrant_url else None,
        api_key=secret.get_secret_value() if secret else None,
        ca_cert=settings.qdrant_ca_cert,
        binary=settings.qdrant_bin,
        folder=settings.vectors_dir,
        timeout=settings.qdrant_timeout_seconds,
        distribution=Distribution(settings.qdrant_shards, settings.qdrant_replicas),
    )
    try:
        yield vectors
    finally:
        await vectors.close()


def prepare_data_dir(settings: Settings) -> None:
    """Create the data folder, for its owner alone: memories are private. Raises StorageFailed."""
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageFailed(
            f"CTX_DATA_DIR={settings.data_dir} cannot be used: {error.strerror}. "
            "Choose a folder that you may write to."
        ) from error
