"""Rebuilds collections from SQL while the old ones still answer."""

import asyncio
import contextlib
from collections.abc import Sequence

from ctx_core.errors import CtxError, ModelMismatch, StorageFailed
from ctx_core.serving import progress
from ctx_memory.projection.collections import ProjectedCollections
from ctx_memory.projection.outbox import BATCH
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import EntryKind
from ctx_memory.records.outbox import OutboxRecords


class Rebuilder:
    """Builds replacements for collections, fills them from SQL, and swaps them in."""

    def __init__(
        self, records: EntryRecords, outbox: OutboxRecords, collections: ProjectedCollections
    ) -> None:
        self._records = records
        self._outbox = outbox
        self._collections = collections
        self._lock = asyncio.Lock()  # one rebuild at a time

    async def rebuild(self, collections: Sequence[tuple[EntryKind, str]]) -> None:
        """Replace these collections, each at the moment when its replacement is complete.

        When it fails or is cancelled, incomplete replacements are deleted and the old collections
        stay. Blocks while another rebuild runs in this process.
        """
        async with self._lock:
            try:
                for kind, collection in collections:
                    await self._build(kind, collection)
                for kind, collection in collections:
                    await self._fill_and_swap(kind, collection)
            finally:
                for _, collection in collections:
                    with contextlib.suppress(CtxError):
                        await self._collections.discard(collection)

    async def _build(self, kind: EntryKind, collection: str) -> None:
        with contextlib.suppress(ModelMismatch, StorageFailed):  # a wrong one is replaced anyway
            await self._collections.ensure(kind, collection)
        await self._collections.build(kind, collection)

    async def _fill_and_swap(self, kind: EntryKind, collection: str) -> None:
        refused = await self._fill(kind, collection)
        async with self._collections.write_lock:
            await self._collections.swap(collection)
        await self._outbox.enqueue(refused, kind, collection)  # the outbox parks them

    async def _fill(self, kind: EntryKind, collection: str) -> list[str]:
        """Write every entry in SQL to the replacement; return the uuids of refused entries."""
        uuids = list(await self._records.revisions(kind, collection))
        refused: list[str] = []
        for start in range(0, len(uuids), BATCH):
            async with self._collections.write_lock:
                entries = await self._records.get_by_uuid(uuids[start : start + BATCH], kind)
                refused += await self._collections.fill(kind, collection, entries)
            await progress.report(start + len(entries), len(uuids), f"rebuilding {collection}")
        return refused
