"""Whether the store holds what the index state says: somebody may have deleted a collection,
restored an older one, or pulled the plug."""

from collections.abc import Mapping

from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import Filter, Match
from services.indexer.indexing.manifest import ManifestRow, RepoKey

FIRST_PATHS = 10_000  # asked for at once; more are asked for where a repo has more


async def stale_paths(
    store: VectorStore, shelf: RepoKey, rows: Mapping[str, ManifestRow]
) -> frozenset[str]:
    """The paths whose number of points is not the recorded one. One count when all is well."""
    whole = all(row.done for row in rows.values())
    expected = sum(row.chunks for row in rows.values())
    if whole and expected == await store.count(shelf.collection, repo_filter(shelf.repo)):
        return frozenset()
    counts = await path_counts(store, shelf)
    return frozenset(
        path
        for path in {*rows, *counts}
        if path not in rows or not rows[path].done or rows[path].chunks != counts.get(path, 0)
    )


async def path_counts(store: VectorStore, shelf: RepoKey) -> dict[str, int]:
    """How many points stand at each path of the repo."""
    limit = FIRST_PATHS
    while True:
        found = await store.facet(
            shelf.collection, "path", where=repo_filter(shelf.repo), limit=limit
        )
        if len(found) < limit:
            return {str(each.value): each.count for each in found}
        limit *= 4


def repo_filter(repo: str) -> Filter:
    return Filter(must=[Match("repo", repo)])
