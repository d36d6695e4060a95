"""Compares a collection with the entries in SQL that it is derived from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from services.core.vectors.protocol import VectorStore
from services.memory.projection.projection import POINT_COUNT, REVISION, entry_uuid
from services.memory.records.store import Records
from services.memory.records.types import EntryKind

PAGE = 500  # points read at a time: the embedded engine holds the interpreter meanwhile


@dataclass(frozen=True)
class Drift:
    """How a collection differs from SQL, as uuids of entries.

    `missing` lack points, `outdated` have points of another revision, `orphaned` have points and
    are not in SQL.
    """

    missing: Sequence[str]
    outdated: Sequence[str]
    orphaned: Sequence[str]


async def compare(store: VectorStore, records: Records, kind: EntryKind, collection: str) -> Drift:
    """Read Qdrant, then SQL: a point without an entry belongs to an entry that was deleted."""
    counts: Counter[str] = Counter()
    expected_counts: dict[str, int] = {}
    point_revisions: dict[str, set[int | None]] = {}
    offset: str | None = None
    while True:
        rows, offset = await store.scroll(collection, limit=PAGE, offset=offset)
        for row in rows:
            uuid = entry_uuid(row.id, row.payload)
            counts[uuid] += 1
            expected_counts[uuid] = row.payload.get(POINT_COUNT, 1)
            point_revisions.setdefault(uuid, set()).add(row.payload.get(REVISION))
        if offset is None:
            break
    revisions = await records.revisions(kind, collection)
    missing = [uuid for uuid in revisions if counts[uuid] < expected_counts.get(uuid, 1)]
    outdated = [
        uuid
        for uuid, revision in revisions.items()
        if counts[uuid] >= expected_counts.get(uuid, 1) and point_revisions[uuid] != {revision}
    ]
    return Drift(missing, outdated, [uuid for uuid in counts if uuid not in revisions])
