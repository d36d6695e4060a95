"""Compares a collection with the entries it is derived from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from services.core.vectors.protocol import VectorStore
from services.memory.projection.projection import POINTS, REVISION, entry_of
from services.memory.records.store import Records
from services.memory.records.types import EntryKind

PAGE = 500  # points read at a time: the embedded engine holds the interpreter meanwhile


@dataclass(frozen=True)
class Drift:
    """Uuids of entries without all of their points, with points of another revision, and of points
    whose entry is gone."""

    missing: Sequence[str]
    outdated: Sequence[str]
    strays: Sequence[str]

    @property
    def lacking(self) -> Sequence[str]:
        return [*self.missing, *self.outdated]


async def compare(store: VectorStore, records: Records, kind: EntryKind, collection: str) -> Drift:
    """Qdrant is read first: a point that is seen then has its entry in SQL, or lost it since."""
    seen: Counter[str] = Counter()
    wanted: dict[str, int] = {}
    shown: dict[str, set[int]] = {}
    page: str | None = None
    while True:
        rows, page = await store.scroll(collection, limit=PAGE, offset=page)
        for row in rows:
            uuid = entry_of(row.id, row.payload)
            seen[uuid] += 1
            # Points of an earlier version carry neither: its entries had one point and no changes.
            wanted[uuid] = row.payload.get(POINTS, 1)
            shown.setdefault(uuid, set()).add(row.payload.get(REVISION, 1))
        if page is None:
            break
    revisions = await records.revisions(kind, collection)
    missing = [uuid for uuid in revisions if seen[uuid] < wanted.get(uuid, 1)]
    outdated = [
        uuid
        for uuid, revision in revisions.items()
        if uuid in shown and shown[uuid] != {revision} and seen[uuid] >= wanted[uuid]
    ]
    return Drift(missing, outdated, [uuid for uuid in seen if uuid not in revisions])
