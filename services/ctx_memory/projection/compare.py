"""Compares a collection with the entries in SQL that it is derived from."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from ctx_core.vectors.points import Record
from ctx_core.vectors.protocol import VectorStore
from ctx_memory.projection.projection import POINT_COUNT, REVISION, entry_uuid
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import EntryKind

PAGE = 500  # points read at a time: the embedded engine holds the interpreter 4 ms meanwhile


@dataclass(frozen=True)
class Drift:
    """How a collection differs from SQL, as uuids of entries.

    `missing` lack points, `outdated` have points of another revision, `orphaned` have points and
    were deleted from SQL. `unknown` have points, and SQL never knew them: it was emptied, or put
    back from an older copy, and the points may be all that is left of them. `entries` is how many
    SQL has.
    """

    missing: Sequence[str]
    outdated: Sequence[str]
    orphaned: Sequence[str]
    unknown: Sequence[str]
    entries: int


@dataclass
class _Stored:
    """The points of a collection, counted by entry."""

    counts: Counter[str] = field(default_factory=Counter)
    expected: dict[str, int] = field(default_factory=dict)
    revisions: dict[str, set[int | None]] = field(default_factory=dict)

    def add(self, point: Record) -> None:
        uuid = entry_uuid(point.id, point.payload)
        self.counts[uuid] += 1
        self.expected[uuid] = point.payload.get(POINT_COUNT, 1)
        self.revisions.setdefault(uuid, set()).add(point.payload.get(REVISION))

    def is_whole(self, uuid: str) -> bool:
        return self.counts[uuid] >= self.expected.get(uuid, 1)


async def compare(
    store: VectorStore, records: EntryRecords, kind: EntryKind, collection: str
) -> Drift:
    """Read Qdrant, then SQL: a point without an entry belongs to an entry that is gone."""
    stored = _Stored()
    async for point in points(store, collection):
        stored.add(point)
    revisions = await records.revisions(kind, collection)
    gone = [uuid for uuid in stored.counts if uuid not in revisions]
    deleted = await records.deleted(gone)
    return Drift(
        missing=[uuid for uuid in revisions if not stored.is_whole(uuid)],
        outdated=[
            uuid
            for uuid, revision in revisions.items()
            if stored.is_whole(uuid) and stored.revisions[uuid] != {revision}
        ],
        orphaned=[uuid for uuid in gone if uuid in deleted],
        unknown=[uuid for uuid in gone if uuid not in deleted],
        entries=len(revisions),
    )


async def points(store: VectorStore, collection: str) -> AsyncIterator[Record]:
    """Read every point of a collection, page by page, and let other tasks run between pages."""
    offset: str | None = None
    while True:
        page, offset = await store.scroll(collection, limit=PAGE, offset=offset)
        for point in page:
            yield point
        if offset is None:
            return
        await asyncio.sleep(0)
