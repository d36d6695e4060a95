"""The memory collection in Qdrant: the memory server writes it, both servers read it."""

import asyncio
from collections.abc import Sequence
from typing import Any

from services.core.embedding.protocol import Embedder
from services.core.memories.types import Memory, MemoryFilters, MemoryHit, folded
from services.core.text import bm25
from services.core.text.highlight import highlights, mark_terms
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
RRF_K = 60  # of the original paper: being first in one prefetch does not decide alone
MIN_CANDIDATES = 50  # of a prefetch, even for few results, so that fusion has candidates of both
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


async def recall(
    store: VectorStore,
    embedder: Embedder | None,
    collection: str,
    query: str,
    filters: MemoryFilters,
    limit: int,
) -> tuple[list[MemoryHit], int]:
    """Return the best memories for a query, and how many memories the filters admit in all.

    Without an embedder only words are compared.
    """
    where = filters.filter()
    candidates = max(MIN_CANDIDATES, limit * CANDIDATES_PER_RESULT)
    prefetch = []
    if embedder is not None:
        dense = await asyncio.to_thread(embedder.embed_query, query)
        prefetch.append(Prefetch(DENSE, dense.tolist(), candidates))
    lexical = bm25.query_vector(query)
    if lexical.indices:
        prefetch.append(Prefetch(BM25, lexical, candidates))
    if not prefetch:
        return [], await store.count(collection, where)
    request = Query(prefetch=prefetch, limit=limit, fusion=RankFusion(k=RRF_K), filter=where)
    hits, total = await asyncio.gather(
        store.query(collection, request), store.count(collection, where)
    )
    terms = frozenset(text_terms(query))
    return [_memory_hit(hit, terms, len(prefetch)) for hit in hits], total


def _payload(memory: Memory) -> dict[str, Any]:
    """Return the memory as it is shown, and the fields that filters compare, with folded case."""
    metadata = memory.metadata
    fields: dict[str, Any] = {
        key: folded(metadata[key]) for key in ("kind", "language", "topic") if key in metadata
    }
    fields["tags"] = [folded(tag) for tag in metadata.get("tags", ())]
    fields |= {key: metadata[key] for key in ("priority", "created_at") if key in metadata}
    return {"information": memory.information, "metadata": dict(metadata), **fields}


def _memory_hit(hit: Hit, terms: frozenset[str], prefetches: int) -> MemoryHit:
    return {
        "id": hit.id,
        "information": hit.payload["information"],
        "metadata": hit.payload["metadata"],
        "score": _share(hit.score, prefetches),
        "highlights": highlights(mark_terms(hit.payload["information"], terms)),
    }


def _share(score: float, prefetches: int) -> float:
    """Scale a fused score to 0 to 1: 1.0 is first in every prefetch."""
    return round(score * RRF_K / prefetches, 4)
