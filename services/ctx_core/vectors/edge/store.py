"""The embedded vector store: Qdrant in this process, one folder per collection."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from ctx_core.batches import batches
from ctx_core.blocking import DISK
from ctx_core.errors import StorageFailed
from ctx_core.vectors import validation
from ctx_core.vectors.edge.batch_size import BatchSize
from ctx_core.vectors.edge.collection import EdgeCollection
from ctx_core.vectors.edge.compaction import compact
from ctx_core.vectors.edge.flusher import Flusher
from ctx_core.vectors.edge.free_space import MIN_FREE_BYTES, FreeSpace
from ctx_core.vectors.edge.named_collections import NamedCollections
from ctx_core.vectors.folder_lock import FolderLock, lock_folder
from ctx_core.vectors.generations import logical_name, new_generation
from ctx_core.vectors.points import FacetCount, Hit, Point, Record
from ctx_core.vectors.queries import Filter, Query
from ctx_core.vectors.spec_check import check_spec
from ctx_core.vectors.specs import CollectionInfo, CollectionSpec

log = logging.getLogger(__name__)

# Exact search grows with the points: 10 ms at 100,000 x 384. Beyond this a server is quicker.
ADVISED_MAX_POINTS = 200_000

# Points validated before other tasks run: about 5 ms of work.
VALIDATION_BATCH = 256
# Ids selected per engine call before they are deleted in batches: 1 ms at 100,000 points.
DELETE_PAGE = 1_000
# How long other tasks run between two engine calls of one long write.
YIELD_SECONDS = 0.001


class EdgeStore:
    """The embedded VectorStore. Acknowledged writes survive the death of the process.

    Calls run on the thread of the event loop: the engine holds the interpreter in every call, so
    a worker thread would pause the loop just as long and need locks. Long writes are batches with
    a turn of the loop between them. The engine's `optimize()` is never called: it holds the
    interpreter for minutes.
    """

    def __init__(self, folder: Path, lock: FolderLock, min_free_bytes: int) -> None:
        self._folder = folder
        self._lock = lock
        self._free_space = FreeSpace(folder, min_free_bytes)
        self._collections = NamedCollections(folder)
        self._upsert_size = BatchSize()
        self._delete_size = BatchSize()
        self._flusher = Flusher(self._collections.opened, self._compact)
        self._has_warned = False
        self._is_closed = False

    @classmethod
    async def open(cls, folder: Path, min_free_bytes: int = MIN_FREE_BYTES) -> "EdgeStore":
        """Lock the folder and load its collections. Raises FolderInUse or StorageFailed.

        Nothing is written while less than `min_free_bytes` of the disk are free.
        """
        store = cls(folder, lock_folder(folder), min_free_bytes)
        try:
            store._free_space.require_to_open()
            store._collections.load()
        except BaseException:
            await store.close()
            raise
        return store

    @property
    def engine(self) -> str:
        return f"embedded ({self._folder})"

    # --- collections -----------------------------------------------------------------------

    async def ensure_collection(self, name: str, spec: CollectionSpec) -> None:
        self._begin_call()
        validation.check_collection_name(name)
        if name in self._collections:
            collection = self._collection(name)
            check_spec(name, collection.spec, spec)
            if collection.lacks(spec):
                self._free_space.require()
                collection.adapt(spec)
                self._flusher.start()
        else:
            self._free_space.require()
            self._collections.create(name, spec)

    async def delete_collection(self, name: str) -> bool:
        self._begin_call()
        validation.check_collection_name(logical_name(name))
        return await self._collections.delete(name)

    async def list_collections(self) -> Sequence[CollectionInfo]:
        self._begin_call()
        return self._collections.infos()

    async def collection_info(self, name: str) -> CollectionInfo:
        return self._collection(name).info()

    # --- replacements ----------------------------------------------------------------------

    async def build(self, name: str, spec: CollectionSpec) -> str:
        self._begin_call()
        validation.check_collection_name(name)
        self._free_space.require()
        for left in self._collections.replacements(name):
            await self._collections.discard(left)
        physical = new_generation(name)
        self._collections.create(physical, spec)
        return physical

    async def swap(self, name: str, built: str) -> None:
        """A process that dies before the aliases are replaced leaves the old collection, after that
        the new one; the next start deletes the other."""
        collection = self._collection(built)
        await DISK.run(collection.write_back)
        collection.flush()
        await self._collections.swap(name, built)

    async def resolve(self, name: str) -> str:
        self._begin_call()
        return self._collections.physical(name)

    async def rebuilding(self, name: str) -> bool:
        self._begin_call()
        return bool(self._collections.replacements(name))

    async def _compact(self, collection: EdgeCollection) -> None:
        if not self._is_closed:
            await compact(collection, self._collections, self._free_space)

    # --- writing ---------------------------------------------------------------------------

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        await self._check(collection, points)
        done = 0
        while done < len(points):
            batch = points[done : done + self._upsert_size.size]
            self._free_space.require()
            with self._upsert_size.timed():
                self._collection(collection).upsert(batch)
            done += len(batch)
            await self._yield()
        self._warn_when_large()

    async def _check(self, collection: str, points: Sequence[Point]) -> None:
        """Validate every point before the first is written: a wrong one then writes nothing."""
        self._collection(collection)
        for number, batch in enumerate(batches(points, VALIDATION_BATCH)):
            if number:
                await asyncio.sleep(0)
            self._collection(collection).check(batch)

    async def delete(self, collection: str, where: Filter) -> None:
        validation.check_selective(where)
        offset: str | None = None
        while True:
            ids, offset = self._collection(collection).select_ids(where, DELETE_PAGE, offset)
            await self._delete(collection, ids, where)
            if offset is None:
                break

    async def _delete(self, collection: str, ids: Sequence[str], where: Filter) -> None:
        """Delete in batches; the filter spares a point that was replaced between two of them."""
        done = 0
        while done < len(ids):
            batch = ids[done : done + self._delete_size.size]
            self._free_space.require()
            with self._delete_size.timed():
                self._collection(collection).delete(batch, where)
            done += len(batch)
            await self._yield()

    async def _yield(self) -> None:
        """Let other tasks run between two engine calls."""
        self._flusher.start()
        await asyncio.sleep(YIELD_SECONDS)

    # --- reading ---------------------------------------------------------------------------

    async def retrieve(
        self, collection: str, ids: Sequence[str], *, fields: Sequence[str] | None = None
    ) -> Sequence[Record]:
        return self._collection(collection).retrieve(ids, fields)

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
        return self._collection(collection).scroll(where, limit, offset, vectors, fields)

    async def count(self, collection: str, where: Filter | None = None) -> int:
        return self._collection(collection).count(where)

    async def facet(
        self, collection: str, field: str, *, where: Filter | None = None, limit: int = 10
    ) -> Sequence[FacetCount]:
        return self._collection(collection).facet(field, where, limit)

    async def query_batch(
        self, collection: str, queries: Sequence[Query]
    ) -> Sequence[Sequence[Hit]]:
        return self._collection(collection).query_batch(queries)

    # --- the store itself ------------------------------------------------------------------

    async def ping(self) -> None:
        self._begin_call()
        self._free_space.require()
        if self._flusher.failure:
            raise StorageFailed(self._flusher.failure)
        self._collections.probe()

    async def advice(self) -> str | None:
        self._begin_call()
        points = self._collections.points_count()
        if points <= ADVISED_MAX_POINTS:
            return None
        return (
            f"the embedded Qdrant holds {points:,} points and searches them one by one; beyond "
            f"{ADVISED_MAX_POINTS:,} run a Qdrant server: set QDRANT_BIN to its binary, or "
            "QDRANT_URL to its address"
        )

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._flusher.stop()
        try:
            self._collections.close()
        finally:
            self._lock.release()

    def _begin_call(self) -> None:
        if self._is_closed:
            raise StorageFailed("the vector store is closed")
        self._flusher.note_call()

    def _collection(self, name: str) -> EdgeCollection:
        self._begin_call()
        return self._collections.get(name)

    def _warn_when_large(self) -> None:
        if not self._has_warned and self._collections.points_count() > ADVISED_MAX_POINTS:
            self._has_warned = True
            log.warning(
                "more than %s points in the embedded Qdrant: searches grow slow; run a Qdrant "
                "server (set QDRANT_BIN to its binary, or QDRANT_URL to its address)",
                f"{ADVISED_MAX_POINTS:,}",
            )
