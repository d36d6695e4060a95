"""Compares the store with the manifest: a collection may have been deleted or restored, or a
write lost."""

from collections.abc import Mapping

from services.core.vectors.protocol import VectorStore
from services.indexer.indexing.manifest import ManifestRow, RepoKey
from services.indexer.schema.fields import PATH, repo_filter

FIRST_LIMIT = 10_000  # paths counted by the first request
LIMIT_GROWTH = 4  # of the limit from one request to the next, until all paths fit


async def stale_paths(
    store: VectorStore, key: RepoKey, rows: Mapping[str, ManifestRow]
) -> frozenset[str]:
    """Return the paths whose number of points differs from their row, or whose row is not done.

    Takes one count where nothing differs.
    """
    complete = all(row.done for row in rows.values())
    expected = sum(row.chunks for row in rows.values())
    if complete and expected == await store.count(key.collection, repo_filter(key.repo)):
        return frozenset()
    counts = await path_counts(store, key)
    return frozenset(
        path
        for path in {*rows, *counts}
        if path not in rows or not rows[path].done or rows[path].chunks != counts.get(path, 0)
    )


async def path_counts(store: VectorStore, key: RepoKey) -> dict[str, int]:
    """Count the points of each path of a repo."""
    limit = FIRST_LIMIT
    while True:
        counts = await store.facet(key.collection, PATH, where=repo_filter(key.repo), limit=limit)
        if len(counts) < limit:
            return {str(each.value): each.count for each in counts}
        limit *= LIMIT_GROWTH
