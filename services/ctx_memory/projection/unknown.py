"""Entries that Qdrant has and SQL never knew: counted, said, and removed only on request."""

import json
from collections.abc import Sequence
from pathlib import Path

from ctx_core.clock import utc_now
from ctx_core.errors import StorageFailed
from ctx_core.files import replace_file
from ctx_core.vectors.protocol import VectorStore
from ctx_memory.projection.compare import Drift, points
from ctx_memory.projection.projection import Projection, entry_uuid

ENTRIES_PER_DELETE = 100


class UnknownEntries:
    """The entries that the last comparison found in each collection and not in SQL."""

    def __init__(self) -> None:
        self._drifts: dict[str, Drift] = {}

    def note(self, collection: str, drift: Drift) -> None:
        """Note how a collection differs."""
        self._drifts[collection] = drift

    async def check(self) -> None:
        """Check readiness: raises StorageFailed where SQL is empty and Qdrant is not."""
        for collection, drift in self._drifts.items():
            if drift.unknown and not drift.entries:
                raise StorageFailed(unknown_problem(collection, drift))

    def advice(self) -> list[str]:
        """Return a sentence for the operator for each collection with unknown entries."""
        return [unknown_problem(*each) for each in self._drifts.items() if each[1].unknown]


def unknown_problem(collection: str, drift: Drift) -> str:
    """Say how many entries only Qdrant has, and how to get rid of them."""
    return (
        f"collection {collection} holds {len(drift.unknown):,} entries that the records, with "
        f"{drift.entries:,} entries there, never knew: the records were emptied or put back from "
        "an older copy, or another installation uses the same collection. Put the right records "
        "back, or remove these entries with `ctx doctor --fix`, which keeps a copy"
    )


async def remove_unknown(
    store: VectorStore,
    projection: Projection,
    collection: str,
    uuids: Sequence[str],
    folder: Path,
) -> Path:
    """Delete the points of these entries, after their payloads are saved to a file of the folder.

    Returns the file: one JSON object a line. Raises StorageFailed, with nothing deleted, where it
    cannot be written.
    """
    wanted = set(uuids)
    lines = [
        json.dumps({"id": point.id, **point.payload}, ensure_ascii=False)
        async for point in points(store, collection)
        if entry_uuid(point.id, point.payload) in wanted
    ]
    copy = folder / f"removed-{collection}-{utc_now():%Y%m%dT%H%M%S}.jsonl"
    try:
        replace_file(copy, "\n".join(lines) + "\n")
    except OSError as error:
        raise StorageFailed(f"{copy} cannot be written ({error}): nothing was removed") from error
    for start in range(0, len(uuids), ENTRIES_PER_DELETE):
        batch = uuids[start : start + ENTRIES_PER_DELETE]
        await store.delete(collection, projection.points_of(batch))
    return copy
