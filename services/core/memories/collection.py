"""The memory collection in Qdrant: the memory server writes it, both servers read it."""

import asyncio
from collections.abc import Sequence
from typing import Any

from services.core.embedding.protocol import Embedder
from services.core.memories.types import Memory, MemoryFilters, MemoryHit, folded
from services.core.text import bm25
from services.core.text.highlight import highlights, marked
from services.core.text.tokens import text_terms
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import (
    BM25,
    DENSE,
    CollectionSpec,
    Hit,
    IndexKind,
    NamedModel,
    Point,
    Prefetch,
    Query,
    RankFusion,
    hybrid_spec,
)

PURPOSE = "memories"
REBUILD_COMMAND = "ctx memory rebuild"  # of every collection of the memory server
MODEL_SETTING = "MEMORY_EMBEDDING_MODEL"
RRF_K = 60  # the constant of the original paper: no single leg's first place decides alone
MIN_CANDIDATES = 50  # a leg looks this deep even for few results, so that fusion has both views
CANDIDATES_PER_RESULT = 3

INDEXES = {
    "kind": IndexKind.KEYWORD,
    "language": IndexKind.KEYWORD,
    "topic": IndexKind.KEYWORD,
    "tags": IndexKind.KEYWORD,
    "priority": IndexKind.INTEGER,
    "created_at": IndexKind.DATETIME,
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
    """Memories as Qdrant points. Blocking: call it off the event loop."""
    vectors = embedder.embed_documents([memory.text for memory in memories])
    return [
        Point(
            id=memory.id,
            vectors={DENSE: vector.tolist(), BM25: bm25.document(memory.text)},
            payload=_payload(memory),
        )
        for memory, vector in zip(memories, vectors, strict=True)
    ]


async def recall(
    store: VectorStore,
    embedder: Embedder | None,
    collection: str,
    query: str,
    wanted: MemoryFilters,
    limit: int,
) -> tuple[list[MemoryHit], int]:
    """The best memories for a query, and how many the filters admit in all.

    Without an embedder only words are compared.
    """
    where = wanted.filter()
    depth = max(MIN_CANDIDATES, limit * CANDIDATES_PER_RESULT)
    prefetch = []
    if embedder is not None:
        dense = await asyncio.to_thread(embedder.embed_query, query)
        prefetch.append(Prefetch(DENSE, dense.tolist(), depth))
    lexical = bm25.query(query)
    if lexical.indices:
        prefetch.append(Prefetch(BM25, lexical, depth))
    if not prefetch:
        return [], await store.count(collection, where)
    request = Query(prefetch=prefetch, limit=limit, fusion=RankFusion(k=RRF_K), filter=where)
    hits, total = await asyncio.gather(
        store.query(collection, request), store.count(collection, where)
    )
    wanted_terms = frozenset(text_terms(query))
    return [_memory_hit(hit, wanted_terms, len(prefetch)) for hit in hits], total


def _payload(memory: Memory) -> dict[str, Any]:
    """The record as it is shown, and beside it the fields that filters compare."""
    metadata = memory.metadata
    fields: dict[str, Any] = {
        key: folded(metadata[key]) for key in ("kind", "language", "topic") if key in metadata
    }
    fields["tags"] = [folded(tag) for tag in metadata.get("tags", ())]
    fields |= {key: metadata[key] for key in ("priority", "created_at") if key in metadata}
    return {"information": memory.information, "metadata": dict(metadata), **fields}


def _memory_hit(hit: Hit, terms: frozenset[str], prefetch: int) -> MemoryHit:
    return {
        "id": hit.id,
        "information": hit.payload["information"],
        "metadata": hit.payload["metadata"],
        "score": _share(hit.score, prefetch),
        "highlights": highlights(marked(hit.payload["information"], terms)),
    }


def _share(score: float, prefetch: int) -> float:
    """A fused score as a share of the best possible one: 1.0 is first in every leg."""
    return round(score * RRF_K / prefetch, 4)
