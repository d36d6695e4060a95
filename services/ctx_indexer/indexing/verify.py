"""Compares the store with the manifest: a collection may have been deleted, damaged or put back
from an older copy, or a write lost."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ctx_core.batches import batches
from ctx_core.errors import InvalidInput
from ctx_core.vectors.points import Scalar
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.manifest.rows import FileVersion, RepoKey, VersionRow
from ctx_indexer.schema.fields import FILE_VERSION, PATH, repo_filter, version_id
from ctx_indexer.schema.points import index_version, point_id

FIRST_LIMIT = 10_000  # values counted by the first request
LIMIT_GROWTH = 4  # of the limit from one request to the next, until all values fit
IDS_PER_READ = 500  # the embedded engine holds the interpreter 4 ms meanwhile


@dataclass(frozen=True)
class Mismatch:
    """How the points of a repo differ from the manifest.

    `lost` are versions whose points are not those of their row, or whose row is not done; `orphans`
    are paths with points of no known version.
    """

    lost: frozenset[FileVersion] = frozenset()
    orphans: frozenset[str] = frozenset()


async def compare(
    store: VectorStore, key: RepoKey, versions: Mapping[FileVersion, VersionRow]
) -> Mismatch:
    """Compare the points of a repo with its file versions.

    Takes a count, and one read of a point of each version, where nothing differs.
    """
    lost = await _lost_versions(store, key, versions)
    complete = not lost and all(row.done for row in versions.values())
    expected = sum(row.chunks for row in versions.values())
    if complete and expected == await store.count(key.collection, repo_filter(key.repo)):
        return Mismatch()
    by_version = await _counts(store, key, FILE_VERSION)
    known: Counter[str] = Counter()
    for version, row in versions.items():
        found = by_version.get(version_id(key.repo, *version), 0)
        known[version.path] += found
        if not row.done or row.chunks != found:
            lost.add(version)
    by_path = await _counts(store, key, PATH)
    orphans = [str(path) for path, count in by_path.items() if count > known[str(path)]]
    return Mismatch(frozenset(lost), frozenset(orphans))


async def _lost_versions(
    store: VectorStore, key: RepoKey, versions: Mapping[FileVersion, VersionRow]
) -> set[FileVersion]:
    """Return the versions whose first point is missing: its id says which content it was made of.

    One of an earlier index version does not tell its file version.
    """
    firsts = {
        point_id(key.repo, row.path, row.blob, 0): row
        for row in versions.values()
        if row.done and row.chunks
    }
    found: set[str] = set()
    for batch in batches(list(firsts), IDS_PER_READ):
        for record in await store.retrieve(key.collection, batch, fields=[FILE_VERSION]):
            row = firsts[record.id]
            is_current = row.index_version == index_version(row.language)
            if not is_current or FILE_VERSION in record.payload:
                found.add(record.id)
        await asyncio.sleep(0)
    return {row.version for id_, row in firsts.items() if id_ not in found}


async def _counts(store: VectorStore, key: RepoKey, field: str) -> dict[Scalar, int]:
    """Count the points of each value of a field in a repo."""
    limit = FIRST_LIMIT
    while True:
        try:
            counts = await store.facet(
                key.collection, field, where=repo_filter(key.repo), limit=limit
            )
        except InvalidInput:  # an earlier version made the collection without this index
            return {}
        if len(counts) < limit:
            return {each.value: each.count for each in counts}
        limit *= LIMIT_GROWTH
