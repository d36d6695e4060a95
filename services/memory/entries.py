"""Memories: stored in SQL first, found through Qdrant."""

import asyncio
import logging
from datetime import UTC, datetime
from hashlib import sha256
from uuid import uuid4

from services.core.embedding.protocol import Embedder
from services.core.errors import CtxError, InvalidInput
from services.core.memories.collection import recall
from services.core.memories.model import MemoryHit, Metadata, StoreResult, Wanted, iso
from services.core.serving.sessions import SessionDefaults
from services.core.vectors.protocol import VectorStore
from services.memory.outbox import MEMORY, Outbox
from services.memory.records import Entry, Records

log = logging.getLogger(__name__)

SETTLE_SECONDS = 2.0  # how long `store` waits for the vectors, so that the next `find` sees them


class Memories:
    """What the tools `store` and `find` do."""

    def __init__(
        self,
        records: Records,
        outbox: Outbox,
        store: VectorStore,
        embedder: Embedder,
        sessions: SessionDefaults,
        collection: str,
    ) -> None:
        self._records = records
        self._outbox = outbox
        self._store = store
        self._embedder = embedder
        self.sessions = sessions
        self._collection = collection

    async def store(
        self, information: str, metadata: Metadata | None, session: str | None = None
    ) -> StoreResult:
        """Commit a memory. It is kept even when Qdrant cannot take its vectors now."""
        if not information.strip():
            raise InvalidInput("information", "must not be empty")
        entry = _entry(information, metadata or Metadata(), self.collection(session))
        await self._records.add(entry)
        result: StoreResult = {
            "ok": True,
            "id": entry.uuid,
            "message": "Successfully stored information",
        }
        reason = await self._settle()
        if reason:
            result["degraded"] = [f"stored, but not searchable yet: {reason}"]
        return result

    async def find(
        self, query: str, wanted: Wanted, limit: int, session: str | None = None
    ) -> tuple[list[MemoryHit], int]:
        """The best memories, and how many the filters admit."""
        if not query.strip():
            raise InvalidInput("query", "Query cannot be empty")
        collection = self.collection(session)
        await self._outbox.require(collection)
        return await recall(self._store, self._embedder, collection, query, wanted, limit)

    def collection(self, session: str | None) -> str:
        return self.sessions.collection(session) or self._collection

    async def _settle(self) -> str | None:
        """Wait for the vectors; the reason when they have to come later."""
        drain = asyncio.ensure_future(self._outbox.drain())
        try:
            await asyncio.wait_for(asyncio.shield(drain), SETTLE_SECONDS)
        except TimeoutError:
            drain.add_done_callback(_log_outcome)
            return f"Qdrant did not answer within {SETTLE_SECONDS:g} s; it will be tried again"
        except CtxError as error:
            log.warning("vectors were not written: %s", error)
            return error.message
        return None


def _entry(information: str, metadata: Metadata, collection: str) -> Entry:
    now = datetime.now(UTC)
    record = metadata.record(now)
    return Entry(
        uuid=str(uuid4()),
        kind=MEMORY,
        collection=collection,
        text=information,
        metadata=record,
        content_hash=sha256(information.encode("utf-8", "surrogatepass")).hexdigest(),
        created_at=record["created_at"],
        updated_at=iso(now),
    )


def _log_outcome(drain: "asyncio.Future[None]") -> None:
    if not drain.cancelled() and (error := drain.exception()) is not None:
        log.warning("vectors were not written: %s", error)
