"""The interface to Qdrant for the rest of ctx."""

from collections.abc import Sequence
from typing import Protocol

from ctx_core.vectors.points import FacetCount, Hit, Point, Record
from ctx_core.vectors.queries import Filter, Query
from ctx_core.vectors.specs import CollectionInfo, CollectionSpec


class VectorStore(Protocol):
    """Collections of points with named vectors. Implemented by EdgeStore and ServerStore.

    Methods raise CollectionNotFound for an unknown collection, InvalidInput for a wrong request
    (unknown vector name, wrong dims, facets of a field without index) and StorageFailed, with a
    remedy, for everything else.

    Filter on indexed fields: a condition on a field without index reads every payload, which takes
    the embedded engine a third of a second at 100,000 points.
    """

    @property
    def engine(self) -> str:
        """The engine and its place, to print: 'embedded (…/vectors)' or 'server (http://…)'."""
        ...

    async def ensure_collection(self, name: str, spec: CollectionSpec) -> None:
        """Create the collection, or add payload indexes that the existing one lacks.

        Raises InvalidInput where it holds something else, ModelMismatch where it must be rebuilt.
        """
        ...

    async def delete_collection(self, name: str) -> bool:
        """Delete the collection; False where there is none."""
        ...

    async def build(self, name: str, spec: CollectionSpec) -> str:
        """Create an empty replacement for a collection; return its physical name.

        It is written under that name and not listed. A replacement that an earlier build for the
        same collection left is deleted.
        """
        ...

    async def swap(self, name: str, built: str) -> None:
        """Point the name to its replacement, atomically, and delete the old collection."""
        ...

    async def resolve(self, name: str) -> str:
        """Return the physical collection of a name. It changes with every swap."""
        ...

    async def rebuilding(self, name: str) -> bool:
        """Whether a replacement for this collection is being built."""
        ...

    async def list_collections(self) -> Sequence[CollectionInfo]: ...

    async def collection_info(self, name: str) -> CollectionInfo: ...

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        """Insert or replace points. They are durable and searchable when it returns."""
        ...

    async def delete(self, collection: str, where: Filter) -> None:
        """Delete the points that the filter selects. Raises InvalidInput for an empty filter."""
        ...

    async def retrieve(
        self, collection: str, ids: Sequence[str], *, fields: Sequence[str] | None = None
    ) -> Sequence[Record]:
        """Return the points with these ids, in this order, without ids that do not exist.

        `fields` are the payload fields to read; None is all.
        """
        ...

    async def scroll(
        self,
        collection: str,
        *,
        where: Filter | None = None,
        limit: int = 100,
        offset: str | None = None,
        vectors: Sequence[str] = (),
        fields: Sequence[str] | None = None,
    ) -> tuple[Sequence[Record], str | None]:
        """Return one page in the order of ids, and the id that the next page starts from.

        `vectors` are the names of the vectors to read, `fields` the payload fields; None is all.
        """
        ...

    async def count(self, collection: str, where: Filter | None = None) -> int: ...

    async def facet(
        self, collection: str, field: str, *, where: Filter | None = None, limit: int = 10
    ) -> Sequence[FacetCount]:
        """Return the most frequent values of an indexed keyword, integer or bool field."""
        ...

    async def query_batch(
        self, collection: str, queries: Sequence[Query]
    ) -> Sequence[Sequence[Hit]]:
        """Run several queries in one call; return the hits of each, in order."""
        ...

    async def ping(self) -> None:
        """Make a request of the engine. Raises StorageFailed where it does not answer."""
        ...

    async def advice(self) -> str | None:
        """Return a change that the operator should make, for `ctx doctor`; else None."""
        ...

    async def close(self) -> None:
        """Write all changes to the disk and release the store; a second call does nothing."""
        ...
