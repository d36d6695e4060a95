"""The one interface to Qdrant that the rest of ctx knows."""

from collections.abc import Sequence
from typing import Protocol

from services.core.vectors.types import (
    CollectionInfo,
    CollectionSpec,
    FacetCount,
    Filter,
    Hit,
    OrderBy,
    Point,
    Query,
    Record,
)


class VectorStore(Protocol):
    """Collections of points with named vectors. Implemented by EdgeStore and ServerStore.

    Methods raise CollectionNotFound for an unknown collection, InvalidInput for a request that
    cannot be right (unknown vector name, wrong dims, ordering by an unindexed field) and
    StorageFailed, with what to do, for everything else.

    Filter on indexed fields: a condition on a field without index reads every payload, which at
    100,000 points costs the embedded engine a third of a second.
    """

    @property
    def engine(self) -> str:
        """Where the vectors live, for people: 'embedded (…/vectors)' or 'server (http://…)'."""
        ...

    async def ensure_collection(self, name: str, spec: CollectionSpec) -> None:
        """Create the collection, or check that the existing one has this model and these vectors.

        A payload index that is missing is added. Another model or other dims raise ModelMismatch.
        """
        ...

    async def delete_collection(self, name: str) -> bool: ...

    async def build(self, name: str, spec: CollectionSpec) -> str:
        """Create an empty collection that is to take the place of `name`; what it is called.

        It is filled under that name, and no list shows it. What an earlier build for the same name
        left behind is dropped.
        """
        ...

    async def swap(self, name: str, built: str) -> None:
        """Put what was built behind the name, at one moment, and delete what stood there."""
        ...

    async def resolve(self, name: str) -> str:
        """What stands behind the name. It changes whenever something else is put there."""
        ...

    async def rebuilding(self, name: str) -> bool:
        """Whether something is being built to take the place of this collection."""
        ...

    async def list_collections(self) -> Sequence[CollectionInfo]: ...

    async def collection_info(self, name: str) -> CollectionInfo: ...

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        """Insert or replace. When it returns, the points are durable and searchable."""
        ...

    async def delete(self, collection: str, where: Filter) -> None:
        """Delete what the filter selects. An empty filter is refused: delete the collection."""
        ...

    async def retrieve(
        self, collection: str, ids: Sequence[str], *, fields: Sequence[str] | None = None
    ) -> Sequence[Record]:
        """The rows with these ids, in this order; ids that are not there are left out.

        `fields` names those of the payload that are wanted; None is all.
        """
        ...

    async def scroll(
        self,
        collection: str,
        *,
        where: Filter | None = None,
        limit: int = 100,
        order_by: OrderBy | None = None,
        offset: str | None = None,
        vectors: Sequence[str] = (),
    ) -> tuple[Sequence[Record], str | None]:
        """One page and the id that the next page starts from (never with `order_by`).

        `vectors` names those that the rows carry.
        """
        ...

    async def count(self, collection: str, where: Filter | None = None) -> int: ...

    async def facet(
        self, collection: str, field: str, *, where: Filter | None = None, limit: int = 10
    ) -> Sequence[FacetCount]:
        """The most frequent values of an indexed keyword, integer or bool field."""
        ...

    async def query(self, collection: str, query: Query) -> Sequence[Hit]: ...

    async def query_batch(
        self, collection: str, queries: Sequence[Query]
    ) -> Sequence[Sequence[Hit]]:
        """Several queries in one call; an answer for each, in their order."""
        ...

    async def ping(self) -> None:
        """Really ask the engine; raises StorageFailed with the reason when it does not answer."""
        ...

    async def advice(self) -> str | None:
        """What the operator should know or change, for `ctx doctor`; None when all is well."""
        ...

    async def close(self) -> None: ...
