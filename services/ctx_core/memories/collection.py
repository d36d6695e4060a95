"""The memory collection in Qdrant: the memory server writes it, both servers read it."""

from collections.abc import Sequence
from typing import Any

from ctx_core.embedding.protocol import Embedder
from ctx_core.memories.memory import Memory
from ctx_core.memories.metadata import EXPIRES_AT, SUPERSEDED, SUPERSEDED_BY, folded
from ctx_core.text import bm25
from ctx_core.vectors.points import Point
from ctx_core.vectors.specs import BM25, DENSE, CollectionSpec, IndexKind, NamedModel, hybrid_spec

PURPOSE = "memories"
REBUILD_COMMAND = "ctx memory rebuild"  # of every collection of the memory server
MODEL_SETTING = "MEMORY_EMBEDDING_MODEL"

INDEXES = {
    "kind": IndexKind.KEYWORD,
    "language": IndexKind.KEYWORD,
    "topic": IndexKind.KEYWORD,
    "tags": IndexKind.KEYWORD,
    "priority": IndexKind.INTEGER,
    "created_at": IndexKind.DATETIME,
    EXPIRES_AT: IndexKind.DATETIME,
    SUPERSEDED: IndexKind.BOOL,
}


def spec(model: NamedModel) -> CollectionSpec:
    """Return the spec of a collection of memories, built with this model."""
    return hybrid_spec(
        model,
        INDEXES,
        purpose=PURPOSE,
        rebuild_command=REBUILD_COMMAND,
        model_setting=MODEL_SETTING,
    )


def points(memories: Sequence[Memory], embedder: Embedder) -> list[Point]:
    """Embed memories as points. Blocking: call it off the event loop."""
    vectors = embedder.embed_documents([memory.text for memory in memories])
    return [
        Point(
            id=memory.id,
            vectors={DENSE: vector.tolist(), BM25: bm25.document_vector(memory.text)},
            payload=_payload(memory),
        )
        for memory, vector in zip(memories, vectors, strict=True)
    ]


def _payload(memory: Memory) -> dict[str, Any]:
    """Return the memory as it is shown, and the fields that filters compare, with folded case."""
    metadata = memory.metadata
    fields: dict[str, Any] = {
        key: folded(metadata[key]) for key in ("kind", "language", "topic") if key in metadata
    }
    fields["tags"] = [folded(tag) for tag in metadata.get("tags", ())]
    fields |= {
        key: metadata[key] for key in ("priority", "created_at", EXPIRES_AT) if key in metadata
    }
    fields[SUPERSEDED] = bool(metadata.get(SUPERSEDED_BY))
    return {"information": memory.information, "metadata": dict(metadata), **fields}
