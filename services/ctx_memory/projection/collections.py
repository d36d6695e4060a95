"""Writes the points of entries into their collections."""

import asyncio
from collections.abc import Mapping, Sequence

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import CollectionNotFound, ModelMismatch, StorageFailed
from ctx_core.vectors.points import Point
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, HasId
from ctx_core.vectors.specs import CollectionSpec
from ctx_memory.projection.projection import (
    PERMANENT_ERRORS,
    ProjectionTarget,
    with_revision,
)
from ctx_memory.records.entry import Entry, EntryKind


class ProjectedCollections:
    """The collections that entries are projected into, created when first written to.

    A writer holds `write_lock` from reading entries in SQL until their points are written, so that
    an older revision never overwrites a newer one.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        targets: Mapping[EntryKind, ProjectionTarget],
    ) -> None:
        self.store = store
        self.targets = targets
        self.write_lock = asyncio.Lock()
        self._embedder = embedder
        self._checked: dict[str, str] = {}  # collection → the physical one that was checked
        self._replacements: dict[str, str] = {}  # collection → the replacement that is being built

    @property
    def model(self) -> str:
        """The name of the embedding model that points are made with."""
        return self._embedder.name

    def spec(self, kind: EntryKind) -> CollectionSpec:
        """Return the shape that collections of this kind must have."""
        return self.targets[kind].projection.collection_spec(self._embedder)

    async def ensure(self, kind: EntryKind, collection: str) -> None:
        """Create the collection where it is missing.

        Raises ModelMismatch where it was built with another model.
        """
        if self._checked.get(collection) != await self.store.resolve(collection):
            await self.store.ensure_collection(collection, self.spec(kind))
            self._checked[collection] = await self.store.resolve(collection)

    async def write(
        self, kind: EntryKind, collection: str, entries: Mapping[str, Entry | None]
    ) -> None:
        """Write the points of these entries by uuid, and delete those of entries that are None.

        While the collection is rebuilt, its replacement is written too.
        """
        try:
            for physical in await self._writable(kind, collection):
                await self._write(kind, physical, entries)
        except CollectionNotFound:
            self._checked.pop(collection, None)
            raise

    async def _writable(self, kind: EntryKind, collection: str) -> list[str]:
        """Return the collection, preceded by its replacement while it is rebuilt.

        A collection of another model takes no more points: its entries wait for the replacement.
        """
        replacement = self._replacements.get(collection)
        try:
            await self.ensure(kind, collection)
        except ModelMismatch as mismatch:
            if replacement is None:
                raise
            raise StorageFailed(
                f"collection {collection} is being rebuilt with another model; what is written "
                "meanwhile is found when that is done"
            ) from mismatch
        return [collection] if replacement is None else [replacement, collection]

    async def _write(
        self, kind: EntryKind, physical: str, entries: Mapping[str, Entry | None]
    ) -> None:
        """Upsert before deleting outdated points, so that an entry is found at every moment."""
        projection = self.targets[kind].projection
        present = [entry for entry in entries.values() if entry is not None]
        points = await self._upsert(kind, physical, present)
        changed = [entry.uuid for entry in present if entry.revision > 1]
        if changed:
            current = HasId([point.id for point in points])
            outdated = Filter(must=[projection.points_of(changed)], must_not=[current])
            await self.store.delete(physical, outdated)
        removed = [uuid for uuid, entry in entries.items() if entry is None]
        if removed:
            await self.store.delete(physical, projection.points_of(removed))

    async def _upsert(
        self, kind: EntryKind, physical: str, entries: Sequence[Entry]
    ) -> list[Point]:
        if not entries:
            return []
        projection = self.targets[kind].projection
        points = await COMPUTE.run(with_revision, projection, entries, self._embedder)
        await self.store.upsert(physical, points)
        return points

    # --- replacements ----------------------------------------------------------------------

    async def build(self, kind: EntryKind, collection: str) -> None:
        """Create an empty replacement for a collection; writes go to both from now on."""
        self._replacements[collection] = await self.store.build(collection, self.spec(kind))

    async def fill(self, kind: EntryKind, collection: str, entries: Sequence[Entry]) -> list[str]:
        """Write entries to the replacement; return the uuids that Qdrant can never take."""
        try:
            await self._upsert(kind, self._replacements[collection], entries)
        except PERMANENT_ERRORS:
            if len(entries) == 1:
                return [entries[0].uuid]
            refused = [await self.fill(kind, collection, [entry]) for entry in entries]
            return [uuid for uuids in refused for uuid in uuids]
        return []

    async def swap(self, collection: str) -> None:
        """Put the replacement behind the collection's name, and delete the old one."""
        await self.store.swap(collection, self._replacements.pop(collection))

    async def discard(self, collection: str) -> None:
        """Delete the replacement of a collection, where one is left."""
        if (replacement := self._replacements.pop(collection, None)) is not None:
            await self.store.delete_collection(replacement)
