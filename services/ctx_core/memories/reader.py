"""Read memories without the memory server: from the collection that it writes."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.blocking import COMPUTE
from ctx_core.clock import utc_now
from ctx_core.embedding.factory import open_local
from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import CollectionNotFound, CtxError, ModelUnavailable
from ctx_core.memories.collection import PURPOSE
from ctx_core.memories.finding import find_memories
from ctx_core.memories.memory import MemoryFilters
from ctx_core.memories.results import MemoryHit
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.specs import EmbeddingModel

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadMemories:
    """The best memories; `problems` say which memories are missing, and why."""

    hits: Sequence[MemoryHit] = ()
    problems: Sequence[str] = ()


class MemoryReader:
    """Finds memories as `find` does, by their points in Qdrant.

    Expired and superseded memories are left out; a memory that waits for its points is not seen.
    """

    def __init__(
        self,
        store: VectorStore,
        collection: str,
        models_dir: Path,
        embedder: Embedder | None = None,
    ) -> None:
        """`embedder` is the memory server's, where it runs in the same process."""
        self._store = store
        self._collection = collection
        self._models_dir = models_dir
        self._embedder = embedder

    async def find(self, query: str, limit: int) -> ReadMemories:
        """Return the best memories for a query; none, and the reason, where they cannot be read."""
        try:
            info = await self._store.collection_info(self._collection)
            if info.spec.purpose != PURPOSE:
                return ReadMemories((), [f"memories: {self._collection} holds none"])
            embedder, problems = await self._model(info.spec.model)
            now = utc_now()
            found = await find_memories(
                self._store,
                embedder,
                self._collection,
                query,
                MemoryFilters().filter(now),
                limit,
                now.date(),
            )
        except CollectionNotFound:
            return ReadMemories((), ["memories: none are stored yet"])
        except CtxError as error:
            log.warning("memories cannot be read: %s", error)
            return ReadMemories((), [f"memories: {error.message}"])
        return ReadMemories(found.hits, problems)

    async def _model(self, model: EmbeddingModel | None) -> tuple[Embedder | None, list[str]]:
        """Return the model that the collection was built with, None where it is not here."""
        if model is None:
            return None, ["memories: only words are compared"]
        own = self._embedder
        if own is not None and (own.name, own.dims) == (model.name, model.dims):
            return own, []
        try:
            return await COMPUTE.run(open_local, model.name, self._models_dir), []
        except ModelUnavailable as error:
            return None, [f"memories: only words are compared: {error.message}"]
