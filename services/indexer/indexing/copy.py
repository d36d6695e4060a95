"""Chunks from one collection into another, embedded by the model of the other."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence

from services.core.embedding.protocol import Embedder
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import BM25, DENSE, Filter, Match, Point, Record
from services.indexer.schema.points import embedded_text

PAGE = 128  # the embedded engine holds the interpreter while it reads: 10 ms of so many chunks


async def carry(
    store: VectorStore, embedder: Embedder, source: str, target: str, *, but: str
) -> AsyncGenerator[Mapping[str, int], None]:
    """Carry every repo but one over; after each page, how many chunks of each were.

    A chunk holds its own text, so that a repo is kept whose workspace is gone.
    """
    carried: Counter[str] = Counter()
    others = Filter(must_not=[Match("repo", but)])
    offset: str | None = None
    while True:
        page, offset = await store.scroll(
            source, where=others, limit=PAGE, offset=offset, vectors=[BM25]
        )
        await store.upsert(target, await asyncio.to_thread(_points, page, embedder))
        carried.update(str(record.payload["repo"]) for record in page)
        yield carried
        if offset is None:
            break


def _points(page: Sequence[Record], embedder: Embedder) -> list[Point]:
    dense = embedder.embed_documents([embedded_text(record.payload) for record in page])
    return [
        Point(record.id, {**record.vectors, DENSE: row}, record.payload)
        for record, row in zip(page, dense, strict=True)
    ]
