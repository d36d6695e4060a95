"""How entries of each kind become points of Qdrant, for the outbox that writes them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from services.core.embedding.protocol import Embedder
from services.core.memories.collection import points, spec
from services.core.memories.types import Memory
from services.core.vectors.types import CollectionSpec, Filter, HasId, Payload, Point
from services.memory.records.types import Entry

ENTRY = "entry"  # the payload field with the entry's uuid, where the point's id is another
REVISION = "revision"  # which state of the entry a point shows
POINTS = "points"  # how many points the entry has in all


class Projection(Protocol):
    """Turns entries of one kind into points.

    A point has the uuid of its entry as its id, or names it in its payload as `entry`.
    """

    def collection_spec(self, embedder: Embedder) -> CollectionSpec: ...

    def points(self, entries: Sequence[Entry], embedder: Embedder) -> list[Point]:
        """Every point of these entries. Blocking: call it off the event loop."""
        ...

    def of(self, uuids: Sequence[str]) -> Filter:
        """Selects all points of these entries."""
        ...


@dataclass(frozen=True)
class ProjectionTarget:
    """Where the entries of a kind go.

    `collection` is the one that always exists. `one_each` selects one point of every entry, for
    counting; None where an entry has just one.
    """

    writer: Projection
    collection: str
    one_each: Filter | None = None


class MemoryVectors:
    """A memory is one point under its own uuid."""

    def collection_spec(self, embedder: Embedder) -> CollectionSpec:
        return spec(embedder)

    def points(self, entries: Sequence[Entry], embedder: Embedder) -> list[Point]:
        return points([Memory(each.uuid, each.text, each.metadata) for each in entries], embedder)

    def of(self, uuids: Sequence[str]) -> Filter:
        return Filter(must=[HasId(uuids)])


def with_revision(writer: Projection, entries: Sequence[Entry], embedder: Embedder) -> list[Point]:
    """The points of these entries, each with what tells later whether they are all there."""
    made = writer.points(entries, embedder)
    revisions = {entry.uuid: entry.revision for entry in entries}
    owners = [entry_of(point.id, point.payload) for point in made]
    counts = Counter(owners)
    return [
        replace(point, payload={**point.payload, REVISION: revisions[owner], POINTS: counts[owner]})
        for point, owner in zip(made, owners, strict=True)
    ]


def entry_of(point_id: str, payload: Payload) -> str:
    """The uuid of the entry that a point belongs to."""
    return str(payload.get(ENTRY, point_id))
