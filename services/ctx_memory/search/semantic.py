"""Finds entries by meaning."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ctx_core.blocking import COMPUTE
from ctx_core.engine.query_model import QueryModel, QueryModelResolver
from ctx_core.errors import SearchFailed
from ctx_core.vectors.points import Vector
from ctx_core.vectors.specs import DENSE, CollectionSpec
from ctx_memory.records.entry import Criteria
from ctx_memory.search.entry_search import EntryHit, EntrySearch

T = TypeVar("T")


@dataclass(frozen=True)
class EmbeddedQuery:
    """The vector of a query, and the name of the model that made it."""

    vector: Sequence[float]
    model: str


class SemanticRetriever:
    """Retrieves the entries whose dense vectors are nearest to a query's.

    `spec` is the shape that the configured model needs of the collection.
    """

    def __init__(
        self,
        entry_search: EntrySearch,
        models: QueryModelResolver,
        spec: CollectionSpec,
        collection: str,
    ) -> None:
        self._entry_search = entry_search
        self._models = models
        self._spec = spec
        self._collection = collection

    @property
    def model(self) -> str:
        """The name of the configured embedding model."""
        return self._models.embedder.name

    async def with_vector(self, query: str, search: Callable[[Sequence[float]], Awaitable[T]]) -> T:
        """Run a search with the query's vector, as `with_query` does."""
        return await self.with_query(query, lambda embedded: search(embedded.vector))

    async def with_query(self, query: str, search: Callable[[EmbeddedQuery], Awaitable[T]]) -> T:
        """Embed the query with the collection's model, and run the search with its vector.

        It runs again where a rebuild replaced the collection meanwhile. Raises SearchFailed where
        the collection's model is not on this machine.
        """

        async def embed_and_search(model: QueryModel) -> T:
            if model.embedder is None:
                raise SearchFailed(model.degraded[0])
            vector = await COMPUTE.run(model.embedder.embed_query, query)
            return await search(EmbeddedQuery(vector.tolist(), model.embedder.name))

        return await self._models.ask(self._collection, self._spec, embed_and_search)

    async def best(
        self, vectors: Mapping[str, Vector], criteria: Criteria, count: int
    ) -> dict[str, list[EntryHit]]:
        """Return per vector the best entries that meet the criteria, at least `count` of each."""
        return await self._entry_search.best(vectors, criteria, count)

    async def nearest(
        self, vector: Sequence[float], criteria: Criteria, count: int
    ) -> list[EntryHit]:
        """Return the nearest entries that meet the criteria, at least `count` if they exist."""
        return (await self._entry_search.best({DENSE: vector}, criteria, count))[DENSE]


def l2_distance(cosine: float) -> float:
    """Return the distance of two unit vectors with this cosine."""
    return math.sqrt(max(0.0, 2.0 - 2.0 * cosine))
