"""Thread entries in Qdrant: one point a chunk, and the filters that its payload answers."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid5

from services.core.embedding.protocol import Embedder
from services.core.memories.collection import MODEL_SETTING, REBUILD_COMMAND
from services.core.vectors.types import (
    BM25,
    DENSE,
    CollectionSpec,
    Condition,
    DatetimeRange,
    Filter,
    IndexKind,
    Match,
    MatchAny,
    NamedModel,
    Point,
    hybrid_spec,
)
from services.memory.projection.projection import ENTRY_UUID
from services.memory.records.types import Criteria, Entry
from services.memory.search.lexical import document
from services.memory.search.metadata_index import FACTS, facts, told
from services.memory.search.splitter import TextSplitter

PURPOSE = "threads"
ID = "id"  # the entry's number, as SQL and the tools know it
CHUNK = "chunk"  # which of its entry's chunks a point is, from 0

INDEXES = {
    ENTRY_UUID: IndexKind.KEYWORD,
    ID: IndexKind.INTEGER,
    "thread": IndexKind.KEYWORD,
    "source": IndexKind.KEYWORD,
    "content_type": IndexKind.KEYWORD,
    "tags": IndexKind.KEYWORD,
    "created_at": IndexKind.DATETIME,
    CHUNK: IndexKind.INTEGER,
    FACTS: IndexKind.INTEGER,
}

FIRST_CHUNKS = Filter(must=[Match(CHUNK, 0)])  # one point of every entry


def spec(model: NamedModel) -> CollectionSpec:
    """Return the spec of a collection of thread entries, built with this model."""
    return hybrid_spec(
        model,
        INDEXES,
        purpose=PURPOSE,
        rebuild_command=REBUILD_COMMAND,
        model_setting=MODEL_SETTING,
    )


class EntryProjection:
    """How the outbox writes thread entries."""

    def __init__(self, cutting: TextSplitter) -> None:
        self._cutting = cutting

    def collection_spec(self, embedder: Embedder) -> CollectionSpec:
        return spec(embedder)

    def points(self, entries: Sequence[Entry], embedder: Embedder) -> list[Point]:
        """The points of these entries. Blocking: call it off the event loop."""
        pieces = [
            (entry, number, chunk)
            for entry in entries
            for number, chunk in enumerate(self._cutting.chunks(entry.text))
        ]
        vectors = embedder.embed_documents([chunk for _, _, chunk in pieces])
        return [
            _point(entry, number, vector.tolist())
            for (entry, number, _), vector in zip(pieces, vectors, strict=True)
        ]

    def points_of(self, uuids: Sequence[str]) -> Filter:
        """Every point of these entries."""
        return Filter(must=[MatchAny(ENTRY_UUID, list(uuids))])


def point_id(uuid: str, chunk: int) -> str:
    """Always the same for the same chunk of an entry, so that writing it again changes nothing."""
    return str(uuid5(UUID(uuid), str(chunk)))


def payload_filter(criteria: Criteria) -> Filter | None:
    """The criteria as far as Qdrant can answer them. SQL has the last word on metadata."""
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
        since, until = _time(criteria.since), _time(criteria.until)
        must.append(DatetimeRange("created_at", gte=since, lte=until))
    must += told(criteria.metadata)
    return Filter(must=must) if must else None


def _point(entry: Entry, number: int, vector: list[float]) -> Point:
    """The first point of an entry has all of its words, so that they rank it as a whole."""
    words = {BM25: document(entry.text)} if number == 0 else {}
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
            FACTS: facts(entry.metadata),
        },
    )


def _time(moment: str | None) -> datetime | None:
    return None if moment is None else datetime.fromisoformat(moment)
