"""Compares the store with the manifest: a collection may have been deleted, damaged or put back
from an older copy, or a write lost."""

import asyncio
from collections.abc import Mapping

from services.core.batches import batches
from services.core.vectors.protocol import VectorStore
from services.indexer.indexing.manifest import ManifestRow, RepoKey
from services.indexer.schema.fields import PATH, repo_filter
from services.indexer.schema.points import point_id

FIRST_LIMIT = 10_000  # paths counted by the first request
LIMIT_GROWTH = 4  # of the limit from one request to the next, until all paths fit
IDS_PER_READ = 500  # the embedded engine holds the interpreter 4 ms meanwhile


async def stale_paths(
    store: VectorStore, key: RepoKey, rows: Mapping[str, ManifestRow]
) -> frozenset[str]:
    """Return the paths whose points are not those of their row, or whose row is not done.

    Takes a count, and one read of a point of each file, where nothing differs.
    """
    lost = await _lost_paths(store, key, rows)
    complete = not lost and all(row.done for row in rows.values())
    expected = sum(row.chunks for row in rows.values())
    if complete and expected == await store.count(key.collection, repo_filter(key.repo)):
        return frozenset()
    counts = await path_counts(store, key)
    return lost | frozenset(
        path
        for path in {*rows, *counts}
        if path not in rows or not rows[path].done or rows[path].chunks != counts.get(path, 0)
    )


async def _lost_paths(
    store: VectorStore, key: RepoKey, rows: Mapping[str, ManifestRow]
) -> frozenset[str]:
    """Return the paths whose first point is missing: its id says which content it was made of."""
    firsts = {
        point_id(key.repo, row.path, row.blob, 0): row.path
        for row in rows.values()
        if row.done and row.chunks
    }
    found: set[str] = set()
    for batch in batches(list(firsts), IDS_PER_READ):
        records = await store.retrieve(key.collection, batch, fields=[PATH])
        found |= {record.id for record in records}
        await asyncio.sleep(0)
    return frozenset(path for id_, path in firsts.items() if id_ not in found)


async def path_counts(store: VectorStore, key: RepoKey) -> dict[str, int]:
    """Count the points of each path of a repo."""
    limit = FIRST_LIMIT
    while True:
        counts = await store.facet(key.collection, PATH, where=repo_filter(key.repo), limit=limit)
        if len(counts) < limit:
            return {str(each.value): each.count for each in counts}
        limit *= LIMIT_GROWTH
