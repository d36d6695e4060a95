"""Fills a new collection with the points of entries, straight from SQL."""

import asyncio
from collections.abc import Sequence

from services.core.embedding.protocol import Embedder
from services.core.errors import InvalidInput
from services.core.vectors.protocol import VectorStore
from services.memory.projection.projection import Projection, with_revision
from services.memory.records.types import Entry

# What writing an entry raises where no later attempt can succeed.
PERMANENT_ERRORS = (InvalidInput, ValueError, TypeError, OverflowError)


async def fill(
    store: VectorStore, embedder: Embedder, writer: Projection, built: str, entries: Sequence[Entry]
) -> list[str]:
    """Write the points of these entries; the uuids of those that Qdrant can never take."""
    if not entries:
        return []
    try:
        await store.upsert(built, await asyncio.to_thread(with_revision, writer, entries, embedder))
    except PERMANENT_ERRORS:
        if len(entries) == 1:
            return [entries[0].uuid]
        alone = [await fill(store, embedder, writer, built, [entry]) for entry in entries]
        return [uuid for refused in alone for uuid in refused]
    return []
