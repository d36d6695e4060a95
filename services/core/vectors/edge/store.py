"""Qdrant in this process: one folder per collection, no server to run."""

import asyncio
import logging
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from services.core.batches import batches
from services.core.errors import CollectionNotFound, StorageFailed
from services.core.vectors import generations, validation
from services.core.vectors.edge import aliases
from services.core.vectors.edge.batch_size import Pace
from services.core.vectors.edge.collection import SPEC_FILE, EdgeCollection, broken_info
from services.core.vectors.folder_lock import Ownership, own
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

log = logging.getLogger(__name__)

COLLECTIONS_FOLDER = "collections"
# A folder of this prefix is on its way out; what a crash left of it goes at the next start.
DELETED_PREFIX = ".deleted-"

# Exact search grows with the points: 10 ms at 100,000 x 384. Past this a server does better.
SERVED_WELL = 200_000

# Points checked between two turns of the event loop: about 5 ms of work.
CHECK_BATCH = 256
# Ids looked up at once before they are deleted in batches: 1 ms at 100,000 points.
DELETE_PAGE = 1_000
# What other tasks get between two engine calls of one long write.
BREATH_SECONDS = 0.001

# A flush holds the interpreter for 10 to 30 ms of work and about 130 waits for the disk: 40 ms on
# an idle one, half a second on a busy one, for few changes as for many. So it waits until nobody
# has called for QUIET, but not longer than LATEST, nor for more than MOST changes: what was not
# flushed is replayed after a crash, at 60 to 90 microseconds a change.
FLUSH_LOOK_SECONDS = 0.5
FLUSH_QUIET_SECONDS = 5.0
FLUSH_LATEST_SECONDS = 300.0
FLUSH_MOST_CHANGES = 20_000


class EdgeStore:
    """The embedded VectorStore. Acknowledged writes survive the death of the process.

    Calls run on the thread of the event loop: the engine holds the interpreter in every call, so
    a worker thread would pause the loop just as long, and add its own delays and locks. Long
    writes are cut into short calls with a turn of the loop between them. `optimize()` is never
    called here: it holds the interpreter for minutes.
    """

    def __init__(self, folder: Path, ownership: Ownership) -> None:
        self._folder = folder
        self._ownership = ownership
        # By what they are called in the folder; `_aliases` says which of them stands behind a name.
        self._collections: dict[str, EdgeCollection] = {}
        self._broken: dict[str, CollectionInfo] = {}
        self._aliases: dict[str, str] = {}
        self._upserts = Pace()
        self._deletes = Pace()
        self._flusher: asyncio.Task[None] | None = None
        self._last_call = 0.0
        self._warned = False
        self._closed = False

    @classmethod
    async def open(cls, folder: Path) -> "EdgeStore":
        """Own the folder and load its collections, or raise FolderInUse."""
        store = cls(folder, own(folder))
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
        self._open()
        validation.collection_name(name)
        physical = self._behind(name)
        if physical in self._collections or physical in self._broken:
            collection = self._collection(name)
            validation.check_spec(name, collection.spec, spec)
            collection.adapt(spec)
            self._flush_later()
        else:
            self._collections[name] = EdgeCollection.create(self._home / name, spec)

    async def delete_collection(self, name: str) -> bool:
        self._open()
        validation.collection_name(generations.logical(name))
        deleted = await self._discard(self._behind(name))
        if name in self._aliases:
            self._keep({key: value for key, value in self._aliases.items() if key != name})
        return deleted

    async def _discard(self, physical: str) -> bool:
        if physical not in self._collections and physical not in self._broken:
            return False
        self._broken.pop(physical, None)
        if collection := self._collections.pop(physical, None):
            collection.abandon()
        doomed = self._home / f"{DELETED_PREFIX}{uuid4()}"
        (self._home / physical).rename(doomed)
        await asyncio.to_thread(shutil.rmtree, doomed, ignore_errors=True)
        return True

    async def list_collections(self) -> Sequence[CollectionInfo]:
        self._open()
        whole = [each.info() for key, each in self._collections.items() if self._is_shown(key)]
        broken = [info for key, info in self._broken.items() if self._is_shown(key)]
        return sorted([*whole, *broken], key=lambda info: info.name)

    async def collection_info(self, name: str) -> CollectionInfo:
        return self._collection(name).info()

    # --- what stands behind a name ---------------------------------------------------------

    async def build(self, name: str, spec: CollectionSpec) -> str:
        self._open()
        validation.collection_name(name)
        for left in self._builds(name):
            await self._discard(left)
        physical = generations.fresh(name)
        self._collections[physical] = EdgeCollection.create(self._home / physical, spec)
        return physical

    async def swap(self, name: str, built: str) -> None:
        """A process that dies before the file of names is replaced leaves the old collection behind
        the name, and after that the new one; the next start drops the other."""
        collection = self._collection(built)
        await asyncio.to_thread(collection.write_back)
        collection.flush()
        before = self._behind(name)
        self._keep(self._aliases | {name: built})
        await self._discard(before)

    async def resolve(self, name: str) -> str:
        self._open()
        return self._behind(name)

    async def rebuilding(self, name: str) -> bool:
        self._open()
        return bool(self._builds(name))

    def _behind(self, name: str) -> str:
        return self._aliases.get(name, name)

    def _is_shown(self, physical: str) -> bool:
        return self._behind(generations.logical(physical)) == physical

    def _builds(self, name: str) -> list[str]:
        known = [each for each in self._collections if generations.is_generation(each, name)]
        return [each for each in known if not self._is_shown(each)]

    def _keep(self, now: dict[str, str]) -> None:
        aliases.write(self._folder, now)
        self._aliases = now

    # --- writing ---------------------------------------------------------------------------

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        await self._check(collection, points)
        done = 0
        while done < len(points):
            batch = points[done : done + self._upserts.size]
            with self._upserts.timed():
                self._collection(collection).upsert(batch)
            done += len(batch)
            await self._breathe()
        self._warn_when_large()

    async def _check(self, collection: str, points: Sequence[Point]) -> None:
        """Every point before the first is written, so that a wrong one leaves nothing behind."""
        self._collection(collection)
        for number, batch in enumerate(batches(points, CHECK_BATCH)):
            if number:
                await asyncio.sleep(0)
            self._collection(collection).check(batch)

    async def delete(self, collection: str, where: Filter) -> None:
        validation.selective(where)
        offset: str | None = None
        while True:
            ids, offset = self._collection(collection).selected(where, DELETE_PAGE, offset)
            await self._delete(collection, ids, where)
            if offset is None:
                break

    async def _delete(self, collection: str, ids: Sequence[str], where: Filter) -> None:
        """The filter goes along: between two calls a point may have been replaced."""
        done = 0
        while done < len(ids):
            batch = ids[done : done + self._deletes.size]
            with self._deletes.timed():
                self._collection(collection).delete(batch, where)
            done += len(batch)
            await self._breathe()

    async def _breathe(self) -> None:
        self._flush_later()
        await asyncio.sleep(BREATH_SECONDS)

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
        order_by: OrderBy | None = None,
        offset: str | None = None,
        vectors: Sequence[str] = (),
    ) -> tuple[Sequence[Record], str | None]:
        return self._collection(collection).scroll(where, limit, order_by, offset, vectors)

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
        self._open()
        for collection in self._collections.values():
            collection.info()
        for broken in self._broken.values():
            raise StorageFailed(
                f"collection {broken.name} could not be loaded: {broken.optimizer_status}"
            )

    async def advice(self) -> str | None:
        self._open()
        points = self._points()
        if points <= SERVED_WELL:
            return None
        return (
            f"the embedded Qdrant holds {points:,} points and searches them one by one; past "
            f"{SERVED_WELL:,} run a Qdrant server: set QDRANT_BIN to its binary, or QDRANT_URL "
            "to its address"
        )

    async def close(self) -> None:
        """Flush everything and give the folder up."""
        if self._closed:
            return
        self._closed = True
        if self._flusher is not None:
            self._flusher.cancel()
        try:
            for collection in self._collections.values():
                _close(collection)
        finally:
            self._ownership.release()

    @property
    def _home(self) -> Path:
        return self._folder / COLLECTIONS_FOLDER

    def _open(self) -> None:
        if self._closed:
            raise StorageFailed("the vector store is closed")
        self._last_call = time.monotonic()

    def _collection(self, name: str) -> EdgeCollection:
        self._open()
        if found := self._collections.get(self._behind(name)):
            return found
        if broken := self._broken.get(self._behind(name)):
            command = validation.rebuild_command(name, broken.spec)
            delete = f"delete {self._home / self._behind(name)} and index or store again"
            raise StorageFailed(
                f"collection {name} could not be loaded: {broken.optimizer_status}; "
                + (f"rebuild it with: {command}" if command else delete),
                collection=name,
            )
        raise CollectionNotFound(f"there is no collection {name!r}", collection=name)

    def _load(self) -> None:
        self._home.mkdir(exist_ok=True)
        self._aliases = {
            name: physical
            for name, physical in aliases.read(self._folder).items()
            if (self._home / physical / SPEC_FILE).exists()  # else it was being deleted
        }
        for folder in sorted(self._home.iterdir()):
            doomed = folder.name.startswith(DELETED_PREFIX) or not self._is_shown(folder.name)
            if doomed or not (folder / SPEC_FILE).exists():
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

    def _points(self) -> int:
        return sum(collection.points for collection in self._collections.values())

    def _warn_when_large(self) -> None:
        if not self._warned and self._points() > SERVED_WELL:
            self._warned = True
            log.warning(
                "more than %s points in the embedded Qdrant: searches grow slow; run a Qdrant "
                "server (set QDRANT_BIN to its binary, or QDRANT_URL to its address)",
                f"{SERVED_WELL:,}",
            )

    # --- flushing --------------------------------------------------------------------------

    def _flush_later(self) -> None:
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.get_running_loop().create_task(self._flush_when_quiet())

    async def _flush_when_quiet(self) -> None:
        deadline = time.monotonic() + FLUSH_LATEST_SECONDS
        while dirty := [each for each in self._collections.values() if each.unflushed]:
            await asyncio.sleep(FLUSH_LOOK_SECONDS)
            now = time.monotonic()
            changes = sum(each.unflushed for each in dirty)
            quiet = now - self._last_call >= FLUSH_QUIET_SECONDS
            if quiet or now >= deadline or changes >= FLUSH_MOST_CHANGES:
                deadline = now + FLUSH_LATEST_SECONDS
                if not await self._flush(dirty):
                    return  # said in the log; the next write tries again

    async def _flush(self, dirty: Sequence[EdgeCollection]) -> bool:
        for collection in dirty:
            await asyncio.to_thread(collection.write_back)
            if self._collections.get(collection.folder.name) is not collection:
                continue
            try:
                collection.flush()
            except StorageFailed as error:
                log.error("%s", error)
                return False
            await asyncio.sleep(0)
        return True


def _close(collection: EdgeCollection) -> None:
    """One collection that fails to flush must not keep the others open."""
    try:
        collection.close()
    except StorageFailed as error:
        log.error("%s", error)
