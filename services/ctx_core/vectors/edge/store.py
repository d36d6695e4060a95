"""The embedded vector store: Qdrant in this process, one folder per collection."""

import asyncio
import logging
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from ctx_core.batches import batches
from ctx_core.blocking import DISK
from ctx_core.errors import CollectionNotFound, CtxError, StorageFailed
from ctx_core.vectors import validation
from ctx_core.vectors.edge.aliases import read_aliases, write_aliases
from ctx_core.vectors.edge.batch_size import BatchSize
from ctx_core.vectors.edge.collection import EdgeCollection, broken_info, is_unfinished
from ctx_core.vectors.edge.compaction import copied, is_sparse
from ctx_core.vectors.edge.flusher import Flusher
from ctx_core.vectors.edge.free_space import MIN_FREE_BYTES, FreeSpace
from ctx_core.vectors.edge.lost_names import with_lost_names
from ctx_core.vectors.folder_lock import FolderLock, lock_folder
from ctx_core.vectors.generations import is_generation, logical_name, new_generation
from ctx_core.vectors.spec_check import check_spec, rebuild_command
from ctx_core.vectors.types import (
    CollectionInfo,
    CollectionSpec,
    FacetCount,
    Filter,
    Hit,
    Point,
    Query,
    Record,
)

log = logging.getLogger(__name__)

COLLECTIONS_FOLDER = "collections"
# A folder of this prefix is being deleted; what a crash leaves of it is deleted at the next start.
DELETED_PREFIX = ".deleted-"

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
        # By physical name; `_aliases` has the physical name of a collection that was rebuilt.
        self._collections: dict[str, EdgeCollection] = {}
        self._broken: dict[str, CollectionInfo] = {}
        self._aliases: dict[str, str] = {}
        self._upsert_size = BatchSize()
        self._delete_size = BatchSize()
        self._flusher = Flusher(self._collections.values, self._compact)
        self._has_warned = False
        self._is_closed = False

    @classmethod
    async def open(cls, folder: Path, min_free_bytes: int = MIN_FREE_BYTES) -> "EdgeStore":
        """Lock the folder and load its collections. Raises FolderInUse or StorageFailed.

        Nothing is written while less than `min_free_bytes` of the disk are free.
        """
        store = cls(folder, lock_folder(folder), min_free_bytes)
        try:
            store._load()
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
        physical = self._physical(name)
        if physical in self._collections or physical in self._broken:
            collection = self._collection(name)
            check_spec(name, collection.spec, spec)
            if collection.lacks(spec):
                self._free_space.require()
                collection.adapt(spec)
                self._flusher.start()
        else:
            self._free_space.require()
            self._collections[name] = EdgeCollection.create(self._home / name, spec)

    async def delete_collection(self, name: str) -> bool:
        self._begin_call()
        validation.check_collection_name(logical_name(name))
        deleted = await self._discard(self._physical(name))
        if name in self._aliases:
            self._set_aliases({key: value for key, value in self._aliases.items() if key != name})
        return deleted

    async def _discard(self, physical: str) -> bool:
        if physical not in self._collections and physical not in self._broken:
            return False
        self._broken.pop(physical, None)
        if collection := self._collections.pop(physical, None):
            collection.abandon()
        deleted = self._home / f"{DELETED_PREFIX}{uuid4()}"
        (self._home / physical).rename(deleted)
        await DISK.run(shutil.rmtree, deleted, ignore_errors=True)
        return True

    async def list_collections(self) -> Sequence[CollectionInfo]:
        self._begin_call()
        whole = [
            each.examined() for key, each in self._collections.items() if self._is_current(key)
        ]
        broken = [info for key, info in self._broken.items() if self._is_current(key)]
        return sorted([*whole, *broken], key=lambda info: info.name)

    async def collection_info(self, name: str) -> CollectionInfo:
        return self._collection(name).info()

    # --- replacements ----------------------------------------------------------------------

    async def build(self, name: str, spec: CollectionSpec) -> str:
        self._begin_call()
        validation.check_collection_name(name)
        self._free_space.require()
        for left in self._replacements(name):
            await self._discard(left)
        physical = new_generation(name)
        self._collections[physical] = EdgeCollection.create(self._home / physical, spec)
        return physical

    async def swap(self, name: str, built: str) -> None:
        """A process that dies before the aliases are replaced leaves the old collection, after that
        the new one; the next start deletes the other."""
        collection = self._collection(built)
        await DISK.run(collection.write_back)
        collection.flush()
        replaced = self._physical(name)
        self._set_aliases(self._aliases | {name: built})
        await self._discard(replaced)

    async def resolve(self, name: str) -> str:
        self._begin_call()
        return self._physical(name)

    async def rebuilding(self, name: str) -> bool:
        self._begin_call()
        return bool(self._replacements(name))

    async def _compact(self, collection: EdgeCollection) -> None:
        """Replace a collection by a copy without deleted points, where there are many of them."""
        physical = collection.folder.name
        name = collection.name

        def is_wanted() -> bool:  # a collection that is rebuilt, or was deleted, needs no copy
            is_open = self._collections.get(physical) is collection and not self._is_closed
            return is_open and self._is_current(physical) and not self._replacements(name)

        if not is_wanted() or not is_sparse(collection):
            return
        built = new_generation(name)
        try:
            self._free_space.require()
            if copy := await copied(collection, self._home / built, is_wanted):
                self._collections[built] = copy
                self._set_aliases(self._aliases | {name: built})
                await self._discard(physical)
        except (CtxError, OSError) as error:
            log.error("collection %s still has its deleted points: %s", name, error)
            collection.deleted = 0  # not again before as many more are deleted
            if not self._is_current(built):
                await self._discard(built)

    def _physical(self, name: str) -> str:
        return self._aliases.get(name, name)

    def _is_current(self, physical: str) -> bool:
        return self._physical(logical_name(physical)) == physical

    def _replacements(self, name: str) -> list[str]:
        known = [each for each in self._collections if is_generation(each, name)]
        return [each for each in known if not self._is_current(each)]

    def _set_aliases(self, aliases: dict[str, str]) -> None:
        write_aliases(self._folder, aliases)
        self._aliases = aliases

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

    async def query(self, collection: str, query: Query) -> Sequence[Hit]:
        [hits] = await self.query_batch(collection, [query])
        return hits

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
        for collection in self._collections.values():
            collection.probe()
        for broken in self._broken.values():
            self._collection(broken.name)

    async def advice(self) -> str | None:
        self._begin_call()
        points = self._points_count()
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
            for collection in self._collections.values():
                _close(collection)
        finally:
            self._lock.release()

    @property
    def _home(self) -> Path:
        return self._folder / COLLECTIONS_FOLDER

    def _begin_call(self) -> None:
        if self._is_closed:
            raise StorageFailed("the vector store is closed")
        self._flusher.note_call()

    def _collection(self, name: str) -> EdgeCollection:
        self._begin_call()
        if found := self._collections.get(self._physical(name)):
            return found
        if broken := self._broken.get(self._physical(name)):
            command = rebuild_command(name, broken.spec)
            delete = f"delete {self._home / self._physical(name)} and index or store again"
            raise StorageFailed(
                f"collection {name} could not be loaded: {broken.optimizer_status}; "
                + (f"rebuild it with: {command}" if command else delete),
                collection=name,
            )
        raise CollectionNotFound(f"there is no collection {name!r}", collection=name)

    def _load(self) -> None:
        self._free_space.require_to_open()
        self._home.mkdir(exist_ok=True)
        self._aliases = with_lost_names(self._folder, self._home, read_aliases(self._folder))
        for folder in sorted(self._home.iterdir()):
            is_deleted = folder.name.startswith(DELETED_PREFIX)
            if is_deleted or not self._is_current(folder.name) or is_unfinished(folder):
                shutil.rmtree(folder, ignore_errors=True)
                continue
            started = time.monotonic()
            try:
                self._collections[folder.name] = EdgeCollection.load(folder)
            except StorageFailed as error:
                log.error("collection %s could not be loaded: %s", folder.name, error)
                self._broken[folder.name] = broken_info(folder, error.message)
            else:
                seconds = time.monotonic() - started
                log.info("collection %s loaded in %.1f s", folder.name, seconds)

    def _points_count(self) -> int:
        return sum(collection.points_count for collection in self._collections.values())

    def _warn_when_large(self) -> None:
        if not self._has_warned and self._points_count() > ADVISED_MAX_POINTS:
            self._has_warned = True
            log.warning(
                "more than %s points in the embedded Qdrant: searches grow slow; run a Qdrant "
                "server (set QDRANT_BIN to its binary, or QDRANT_URL to its address)",
                f"{ADVISED_MAX_POINTS:,}",
            )


def _close(collection: EdgeCollection) -> None:
    """Close a collection; a failed flush is logged and must not keep the others open."""
    try:
        collection.close()
    except StorageFailed as error:
        log.error("%s", error)
