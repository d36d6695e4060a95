"""Carries entries from SQL to Qdrant: what is committed there becomes searchable here."""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence

from services.core.embedding.protocol import Embedder
from services.core.errors import CollectionNotFound, CtxError
from services.core.memories.collection import points, spec
from services.core.memories.model import Memory
from services.core.vectors.protocol import VectorStore
from services.memory.records import Due, Records

log = logging.getLogger(__name__)

BATCH = 100  # entries written to Qdrant at a time
RETRY_SECONDS = 5.0  # between attempts while Qdrant does not answer
MEMORY = "memory"


class Outbox:
    """Writes the vectors of committed entries, in order, again and again until it succeeds.

    `waiting` is how many were left at the last look.
    """

    def __init__(
        self, records: Records, store: VectorStore, embedder: Embedder, collection: str
    ) -> None:
        self._records = records
        self._store = store
        self._embedder = embedder
        self._collection = collection
        self._turn = asyncio.Lock()
        self._ready: set[str] = set()
        self._healed = False
        self.waiting = 0

    async def drain(self) -> None:
        """Write everything that is due. Callers that wait here find their work done by others."""
        async with self._turn:
            while due := await self._records.due(BATCH):
                await self._write(due)
                await self._records.done([item.outbox_id for item in due])
            self.waiting = 0

    async def heal(self) -> None:
        """After a crash or a lost Qdrant folder: write what is missing there again."""
        counts = {self._collection: 0} | await self._records.counts(MEMORY)
        for collection, count in counts.items():
            await self._ensure(collection)
            if await self._store.count(collection) < count:
                log.warning("collection %s misses entries: writing them again", collection)
                await self._records.enqueue_all(MEMORY, collection)
        await self.drain()
        self._healed = True

    async def require(self, collection: str) -> None:
        """A collection that is read must exist, and be built with this model."""
        if collection not in self._ready:
            await self._store.collection_info(collection)
            await self._ensure(collection)

    async def rebuild(self) -> int:
        """Drop the collections of memories and write them anew; how many entries there are."""
        counts = {self._collection: 0} | await self._records.counts(MEMORY)
        for collection in counts:
            await self._store.delete_collection(collection)
            self._ready.discard(collection)
        await self.heal()
        return sum(counts.values())

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Retry in the background, and write what is left at the end."""
        worker = asyncio.create_task(self._retry())
        try:
            yield
        finally:
            worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await worker
            await self._last_drain()

    async def _retry(self) -> None:
        while True:
            await asyncio.sleep(RETRY_SECONDS)
            with _logged("entries wait for their vectors"):
                self.waiting = await self._records.pending()
                await (self.drain() if self._healed else self.heal())

    async def _last_drain(self) -> None:
        with _logged("entries stay in the outbox until the next start"):
            await self.drain()

    async def _write(self, due: Sequence[Due]) -> None:
        by_collection: dict[str, list[Memory]] = defaultdict(list)
        for item in due:
            entry = item.entry
            memory = Memory(entry.uuid, entry.text, entry.metadata)
            by_collection[entry.collection].append(memory)
        for collection, batch in by_collection.items():
            await self._ensure(collection)
            rows = await asyncio.to_thread(points, batch, self._embedder)
            try:
                await self._store.upsert(collection, rows)
            except CollectionNotFound:  # somebody deleted it: the next attempt builds it anew
                self._ready.discard(collection)
                self._healed = False
                raise

    async def _ensure(self, collection: str) -> None:
        """Create the collection, or check that it was built with this model."""
        if collection not in self._ready:
            await self._store.ensure_collection(collection, spec(self._embedder))
            self._ready.add(collection)


@contextlib.contextmanager
def _logged(consequence: str) -> Iterator[None]:
    try:
        yield
    except CtxError as error:
        log.warning("%s: %s", consequence, error)
