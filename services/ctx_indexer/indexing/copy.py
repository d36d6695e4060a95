"""Copies the chunks of repos from one collection to another, embedded by the other's model."""

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import SearchFailed
from ctx_core.secrets.redaction import redact
from ctx_core.vectors.points import Point, Record
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.specs import BM25, DENSE, CollectionInfo
from ctx_indexer.schema.earlier import EARLIER_BM25, decode_earlier
from ctx_indexer.schema.fields import copied_filter
from ctx_indexer.schema.payload import ChunkPayload, decode, embedding_text
from ctx_indexer.schema.points import holds_code

log = logging.getLogger(__name__)

PAGE = 128  # chunks; the embedded engine holds the interpreter 10 ms while it reads so many


async def copy_repos(
    store: VectorStore,
    embedder: Embedder,
    source: CollectionInfo,
    target: str,
    *,
    excluded: str,
    versions: Sequence[int] = (),
) -> AsyncGenerator[Mapping[str, int], None]:
    """Copy every repo but one, and yield the chunks copied of each after every page.

    Of that one only `versions` are copied. A chunk stores its own text, so a repo is copied even
    where its workspace is gone. Chunks of the version before are brought up to date, those of older
    ones left out.
    """
    earlier = not holds_code(source)
    bm25 = EARLIER_BM25 if earlier else BM25
    copied: Counter[str] = Counter()
    left_out = 0
    offset: str | None = None
    while True:
        page, offset = await store.scroll(
            source.name,
            where=copied_filter(excluded, versions),
            limit=PAGE,
            offset=offset,
            vectors=[bm25],
        )
        chunks = [_decode(record, earlier) for record in page]
        kept = [(record, chunk) for record, chunk in zip(page, chunks, strict=True) if chunk]
        await store.upsert(target, await COMPUTE.run(_points, kept, bm25, embedder))
        copied.update(chunk.repo for _, chunk in kept)
        left_out += len(page) - len(kept)
        yield copied
        if offset is None:
            break
    if left_out:
        log.warning("%d chunks of other repos are too old: index those repos again", left_out)


def _decode(record: Record, earlier: bool) -> ChunkPayload | None:
    if earlier:
        return decode_earlier(record.payload)
    try:
        return decode(record.payload)
    except SearchFailed:
        return None


def _points(
    chunks: Sequence[tuple[Record, ChunkPayload]], bm25: str, embedder: Embedder
) -> list[Point]:
    """Build points with new dense vectors, and without secrets; the BM25 vectors stay."""
    redacted = [replace(chunk, text=redact(chunk.text, chunk.path).text) for _, chunk in chunks]
    rows = embedder.embed_documents([embedding_text(chunk) for chunk in redacted])
    return [
        Point(record.id, {DENSE: row, BM25: record.vectors[bm25]}, chunk.encode())
        for (record, _), chunk, row in zip(chunks, redacted, rows, strict=True)
    ]
