"""Finds entries by meaning."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from services.core.engine.query_model import QueryModel, QueryModelResolver
from services.core.errors import SearchFailed
from services.core.vectors.types import DENSE, CollectionSpec
from services.memory.records.types import Criteria
from services.memory.search.entry_search import EntryHit, EntrySearch

T = TypeVar("T")


class SemanticRetriever:
    """The semantic leg of every search."""

    def __init__(
        self, points: EntrySearch, models: QueryModelResolver, spec: CollectionSpec, collection: str
    ) -> None:
        """`spec` is what the configured model needs of the collection."""
        self._points = points
        self._models = models
        self._spec = spec
        self._collection = collection

    @property
    def model(self) -> str:
        return self._models.embedder.name

    async def ask(self, query: str, work: Callable[[Sequence[float]], Awaitable[T]]) -> T:
        """Do the work with the query's vector, by the collection's model, which is another than the
        configured while it is rebuilt. Once more where meanwhile the rebuilt one took its place."""

        async def embedded(model: QueryModel) -> T:
            if model.embedder is None:
                raise SearchFailed(model.degraded[0])
            vector = await asyncio.to_thread(model.embedder.embed_query, query)
            return await work(vector.tolist())

        return await self._models.ask(self._collection, self._spec, embedded)

    async def nearest(
        self, vector: Sequence[float], criteria: Criteria, wanted: int
    ) -> list[EntryHit]:
        """The nearest entries that the criteria admit, each once; at least so many, if they
        exist."""
        return (await self._points.best({DENSE: vector}, criteria, wanted))[DENSE]


def l2(cosine: float) -> float:
    """The distance of two unit vectors."""
    return math.sqrt(max(0.0, 2.0 - 2.0 * cosine))
