"""Entries as points: one point per chunk, with a payload that answers filters."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from ctx_core.embedding.protocol import Embedder
from ctx_core.memories.collection import MODEL_SETTING, REBUILD_COMMAND, points, spec
from ctx_core.memories.memory import Memory
from ctx_core.vectors.points import Point, Sparse
from ctx_core.vectors.queries import Condition, DatetimeRange, Filter, HasId, Match, MatchAny
from ctx_core.vectors.specs import BM25, DENSE, CollectionSpec, IndexKind, NamedModel, hybrid_spec
from ctx_memory.projection.projection import ENTRY_UUID, ProjectionTarget
from ctx_memory.records.entry import Criteria, Entry, EntryKind
from ctx_memory.search.lexical import document_vector
from ctx_memory.search.metadata_index import (
    METADATA_HASHES,
    equality_conditions,
    metadata_hashes,
)
from ctx_memory.search.splitter import TextSplitter

ID = "id"  # payload field: the entry's integer id
CHUNK = "chunk"  # payload field: the chunk's number in its entry, from 0

# The purpose of a collection of each kind. Memories have their own shape, in core.memories.
PURPOSES = {EntryKind.THREAD: "threads", EntryKind.MESSAGE: "messages"}

INDEXES = {
    ENTRY_UUID: IndexKind.KEYWORD,
    ID: IndexKind.INTEGER,
    "thread": IndexKind.KEYWORD,
    "source": IndexKind.KEYWORD,
    "content_type": IndexKind.KEYWORD,
    "tags": IndexKind.KEYWORD,
    "created_at": IndexKind.DATETIME,
    CHUNK: IndexKind.INTEGER,
    METADATA_HASHES: IndexKind.INTEGER,
}

ONE_POINT_PER_ENTRY = Filter(must=[Match(CHUNK, 0)])


def entry_spec(kind: EntryKind, model: NamedModel) -> CollectionSpec:
    """Return the spec of a collection of entries of a kind, built with this model."""
    return hybrid_spec(
        model,
        INDEXES,
        purpose=PURPOSES[kind],
        rebuild_command=REBUILD_COMMAND,
        model_setting=MODEL_SETTING,
    )


class EntryProjection:
    """Writes entries of a kind as one point per chunk of their text."""

    def __init__(self, kind: EntryKind, splitter: TextSplitter) -> None:
        self._kind = kind
        self._splitter = splitter

    def collection_spec(self, embedder: Embedder) -> CollectionSpec:
        return entry_spec(self._kind, embedder)

    def points(self, entries: Sequence[Entry], embedder: Embedder) -> list[Point]:
        """Return every point of these entries. Blocking: call it off the event loop."""
        chunks = [
            (entry, number, chunk)
            for entry in entries
            for number, chunk in enumerate(self._splitter.chunks(entry.text))
        ]
        vectors = embedder.embed_documents([chunk for _, _, chunk in chunks])
        return [
            _point(entry, number, vector.tolist())
            for (entry, number, _), vector in zip(chunks, vectors, strict=True)
        ]

    def points_of(self, uuids: Sequence[str]) -> Filter:
        """Return a filter that selects all points of these entries."""
        return Filter(must=[MatchAny(ENTRY_UUID, list(uuids))])


def point_id(uuid: str, chunk: int) -> str:
    """Return the id of an entry's chunk: always the same, so that writing it again is harmless."""
    digest = hashlib.sha1(bytes.fromhex(uuid.replace("-", "")) + str(chunk).encode()).digest()
    return str(UUID(bytes=digest[:16], version=5))  # uuid5, in half the time


def payload_filter(criteria: Criteria) -> Filter | None:
    """Return the criteria as far as Qdrant can answer them; SQL re-checks metadata."""
    must: list[Condition] = []
    if criteria.threads is not None:
        must.append(MatchAny("thread", list(criteria.threads)))
    if criteria.source is not None:
        must.append(Match("source", criteria.source))
    if criteria.content_type is not None:
        must.append(Match("content_type", criteria.content_type.value))
    if criteria.tags:
        must.append(MatchAny("tags", list(criteria.tags)))
    if criteria.since is not None or criteria.until is not None:
        since, until = _datetime(criteria.since), _datetime(criteria.until)
        must.append(DatetimeRange("created_at", gte=since, lte=until))
    must += equality_conditions(criteria.metadata)
    return Filter(must=must) if must else None


def _point(entry: Entry, number: int, vector: list[float]) -> Point:
    """Return the point of a chunk; the first has the words of the whole entry, to rank it once."""
    words: dict[str, Sparse] = {BM25: document_vector(entry.text)} if number == 0 else {}
    return Point(
        id=point_id(entry.uuid, number),
        vectors={DENSE: vector, **words},
        payload={
            ENTRY_UUID: entry.uuid,
            ID: entry.id,
            "thread": entry.thread,
            "source": entry.source,
            "content_type": entry.content_type.value,
            "tags": list(entry.tags),
            "created_at": entry.created_at,
            CHUNK: number,
            METADATA_HASHES: metadata_hashes(entry.metadata),
        },
    )


def _datetime(moment: str | None) -> datetime | None:
    return None if moment is None else datetime.fromisoformat(moment)


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
