"""Choose the model that a collection is queried with: the configured one, or, while it is rebuilt,
the one that it was built with."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.factory import open_local
from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import CtxError, ModelMismatch, ModelUnavailable
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.spec_check import check_spec, has_vectors
from ctx_core.vectors.specs import CollectionSpec, EmbeddingModel

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class QueryModel:
    """The model of a collection's dense vectors.

    Without one only BM25 vectors can be queried, and `degraded` says why.
    """

    embedder: Embedder | None
    degraded: Sequence[str] = ()


class QueryModelResolver:
    """Resolves the model that a collection is queried with.

    A collection of another model than the configured one raises ModelMismatch, which names the
    command that rebuilds it. During that rebuild it is queried with the model that it was built
    with, if that is on this machine.
    """

    def __init__(
        self, store: VectorStore, embedder: Embedder, models_dir: Path = Path("models")
    ) -> None:
        """`embedder` is the configured one; `models_dir` is the folder of downloaded models."""
        self._store = store
        self.embedder = embedder
        self._models_dir = models_dir
        self._checked: dict[str, str] = {}
        self._former: dict[EmbeddingModel, Embedder | None] = {}

    async def ask(
        self,
        collection: str,
        spec: CollectionSpec,
        work: Callable[[QueryModel], Awaitable[T]],
    ) -> T:
        """Run a query with the collection's model; run it again if a rebuild was swapped in
        meanwhile. That takes a whole rebuild, so this ends. Raises as `of` does."""
        while True:
            physical = await self._store.resolve(collection)
            try:
                result = await work(await self.of(collection, spec))
            except CtxError:
                if await self._store.resolve(collection) == physical:
                    raise
            else:
                if await self._store.resolve(collection) == physical:
                    return result

    async def of(self, collection: str, spec: CollectionSpec) -> QueryModel:
        """Return the model of an existing collection, without writing anything.

        `spec` is the one of the configured model. Raises InvalidInput where the collection holds
        something else, ModelMismatch where it must be rebuilt and no rebuild has begun.
        """
        physical = await self._store.resolve(collection)
        if self._checked.get(collection) != physical:
            stored = (await self._store.collection_info(collection)).spec
            try:
                check_spec(collection, stored, spec)
            except ModelMismatch:
                if not await self._store.rebuilding(collection):
                    raise
                return await self._former_model(collection, stored, spec)
            self._checked[collection] = physical
        return QueryModel(self.embedder)

    async def _former_model(
        self, collection: str, stored: CollectionSpec, spec: CollectionSpec
    ) -> QueryModel:
        """Return the model that a collection was built with, while it is being rebuilt."""
        model = stored.model
        if model is None or not has_vectors(stored, spec):
            raise ModelMismatch(
                f"collection {collection} is of an earlier version of ctx and is being rebuilt; "
                "search it when that is done",
                collection=collection,
            )
        embedder = await self._load(model)
        if embedder is not None:
            return QueryModel(embedder)
        reason = (
            f"dense: collection {collection} is being rebuilt, and {model.name}, which it was "
            "built with, is not on this machine: only words are compared until it is done"
        )
        return QueryModel(None, [reason])

    async def _load(self, model: EmbeddingModel) -> Embedder | None:
        """Load a model once, off the event loop; None where it is not on this machine."""
        if model not in self._former:
            if model.name == self.embedder.name:  # the same model with other dims
                self._former[model] = self.embedder
            else:
                self._former[model] = await COMPUTE.run(self._open, model)
        return self._former[model]

    def _open(self, model: EmbeddingModel) -> Embedder | None:
        try:
            embedder = open_local(model.name, self._models_dir)
        except ModelUnavailable as error:
            log.warning("the model %s of an older collection: %s", model.name, error.message)
            return None
        return embedder if (embedder.name, embedder.dims) == (model.name, model.dims) else None
