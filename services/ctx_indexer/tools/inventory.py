"""Reads the counts, times, repos and samples of collections."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ctx_core.clock import to_iso
from ctx_core.vectors.points import Scalar
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter
from ctx_core.vectors.specs import CollectionInfo
from ctx_indexer.indexing.workspace_state import WorkspaceState
from ctx_indexer.schema.fields import REPO, repo_filter
from ctx_indexer.schema.payload import decode
from ctx_indexer.schema.points import holds_code
from ctx_indexer.tools.responses import CollectionRepos, Moment
from ctx_indexer.view.view import View

MAX_REPOS = 10_000  # counted of one collection
SAMPLES = 3  # of one collection; enough to recognise its contents
SAMPLE_FIELDS = ("repo", "path", "language", "kind", "symbol", "start_line", "end_line")
BYTES_PER_BLOCK = 512  # of st_blocks, whatever the file system's own blocks are


@dataclass(frozen=True)
class NewestTimes:
    """The newest write and the newest file change among the scanned points."""

    scanned: int
    indexed: float | None
    modified: float | None


NO_TIMES = NewestTimes(0, None, None)


async def newest_times(
    store: VectorStore, collection: str, where: Filter | None, max_points: int, batch: int
) -> NewestTimes:
    """Scan up to `max_points` points, a batch at a time, for their times."""
    scanned = 0
    indexed = modified = 0.0
    offset: str | None = None
    while scanned < max_points:
        page, offset = await store.scroll(
            collection, where=where, limit=min(batch, max_points - scanned), offset=offset
        )
        scanned += len(page)
        chunks = [decode(record.payload) for record in page]
        indexed = max([indexed, *(chunk.indexed_at for chunk in chunks)])
        modified = max([modified, *(chunk.modified_at for chunk in chunks)])
        if offset is None:
            break
        await asyncio.sleep(0)
    return NewestTimes(scanned, indexed or None, modified or None)


def moment(timestamp: float | None) -> Moment | None:
    """Return a timestamp as seconds and as ISO 8601 in UTC."""
    if timestamp is None:
        return None
    iso = to_iso(datetime.fromtimestamp(int(timestamp), UTC))
    return {"unix": int(timestamp), "iso": iso}


def folder_mb(folder: Path) -> float | None:
    """Return the disk space of a folder in MiB; None where there is no such folder. Blocks.

    Counts allocated blocks, not lengths: the embedded engine's files are sparse.
    """
    if not folder.is_dir():
        return None
    files = [path for path in folder.rglob("*") if path.is_file()]
    return round(sum(_allocated_bytes(path) for path in files) / 2**20, 1)


def _allocated_bytes(path: Path) -> int:
    try:
        status = path.stat()
    except OSError:  # deleted since it was listed
        return 0
    return getattr(status, "st_blocks", status.st_size // BYTES_PER_BLOCK) * BYTES_PER_BLOCK


async def collection_repos(
    store: VectorStore,
    info: CollectionInfo,
    view: View,
    workspaces: Mapping[Path, WorkspaceState],
    *,
    repo: str | None,
    samples: bool,
) -> CollectionRepos:
    """Count the points of each repo that a view has, or of one repo, with a few sample chunks."""
    where = view.narrowed(repo_filter(repo) if repo else None)
    counts = await store.facet(info.name, REPO, where=where, limit=MAX_REPOS)
    row: CollectionRepos = {
        "collection": info.name,
        "points_count": sum(each.count for each in counts),
        "repos": [
            {
                "repo": str(each.value),
                "points_count": each.count,
                "workspace_paths": _workspace_paths(workspaces, info.name, each.value),
            }
            for each in counts
        ],
    }
    if samples:
        page, _ = await store.scroll(info.name, where=where, limit=SAMPLES)
        chunks = [decode(record.payload) for record in page]
        row["samples"] = [
            {name: getattr(chunk, name) for name in SAMPLE_FIELDS} for chunk in chunks
        ]
    return row


def _workspace_paths(
    workspaces: Mapping[Path, WorkspaceState], collection: str, repo: Scalar
) -> list[str]:
    return [
        str(path)
        for path, state in workspaces.items()
        if (state.collection_name, state.repo) == (collection, repo)
    ]


def code_collections(
    infos: Sequence[CollectionInfo], collection: str | None
) -> list[CollectionInfo]:
    """Return the collections of code, or the named one of them."""
    return [i for i in infos if holds_code(i) and (collection is None or i.name == collection)]
