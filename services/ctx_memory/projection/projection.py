"""How entries of one kind become points of Qdrant, and which collection holds them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import InvalidInput
from ctx_core.vectors.points import Payload, Point
from ctx_core.vectors.queries import Filter
from ctx_core.vectors.specs import CollectionSpec
from ctx_memory.records.entry import Entry

ENTRY_UUID = "entry_uuid"  # payload field; absent where the point's id is the entry's uuid
REVISION = "revision"  # payload field: the entry's revision that the point was made from
POINT_COUNT = "point_count"  # payload field: how many points the entry has in all

# Raised by writing an entry's points where no later attempt can succeed.
PERMANENT_ERRORS = (InvalidInput, ValueError, TypeError, OverflowError)


class Projection(Protocol):
    """Turns entries of one kind into points.

    A point has its entry's uuid as its id, or in the payload field `entry_uuid`.
    """

    def collection_spec(self, embedder: Embedder) -> CollectionSpec: ...

    def points(self, entries: Sequence[Entry], embedder: Embedder) -> list[Point]:
        """Return every point of these entries. Blocking: call it off the event loop."""
        ...

    def points_of(self, uuids: Sequence[str]) -> Filter:
        """Return a filter that selects all points of these entries."""
        ...


@dataclass(frozen=True)
class ProjectionTarget:
    """The projection of a kind and its default collection, which exists even without entries."""

    projection: Projection
    collection: str


def with_revision(
    projection: Projection, entries: Sequence[Entry], embedder: Embedder
) -> list[Point]:
    """Return the points of these entries, each with its entry's revision and number of points."""
    points = projection.points(entries, embedder)
    revisions = {entry.uuid: entry.revision for entry in entries}
    owners = [entry_uuid(point.id, point.payload) for point in points]
    counts = Counter(owners)
    return [
        replace(
            point,
            payload={**point.payload, REVISION: revisions[owner], POINT_COUNT: counts[owner]},
        )
        for point, owner in zip(points, owners, strict=True)
    ]


def entry_uuid(point_id: str, payload: Payload) -> str:
    """Return the uuid of the entry that a point belongs to."""
    return str(payload.get(ENTRY_UUID, point_id))
