"""Memories as points: one point per memory, under the memory's own uuid."""

from collections.abc import Sequence

from ctx_core.embedding.protocol import Embedder
from ctx_core.memories.collection import points, spec
from ctx_core.memories.memory import Memory
from ctx_core.vectors.points import Point
from ctx_core.vectors.queries import Filter, HasId
from ctx_core.vectors.specs import CollectionSpec
from ctx_memory.projection.projection import ProjectionTarget
from ctx_memory.records.entry import Entry


class MemoryProjection:
    """Writes memories in the shape that `core.memories` searches."""

    def collection_spec(self, embedder: Embedder) -> CollectionSpec:
        return spec(embedder)

    def points(self, entries: Sequence[Entry], embedder: Embedder) -> list[Point]:
        memories = [Memory(entry.uuid, entry.text, entry.metadata) for entry in entries]
        return points(memories, embedder)

    def points_of(self, uuids: Sequence[str]) -> Filter:
        return Filter(must=[HasId(uuids)])


def memory_target(collection: str) -> ProjectionTarget:
    """Return where memories are written by default."""
    return ProjectionTarget(MemoryProjection(), collection)
