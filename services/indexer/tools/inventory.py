"""What collections hold: counts, times, repos, samples. Reads only."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from services.core.clock import to_iso
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import CollectionInfo, Filter, Match, Scalar
from services.indexer.indexing.workspace_state import WorkspaceState
from services.indexer.schema.points import facts, holds_code

MANY_REPOS = 10_000  # of one collection
SAMPLES = 3  # of one collection; enough to see what it holds
SAMPLE_FIELDS = ("repo", "path", "language", "kind", "symbol", "start_line", "end_line")
TERM_IDS = 2**32  # a sparse vector's term is a 32-bit number
BYTES_A_BLOCK = 512  # of st_blocks, whatever the file system's own blocks are


class Moment(TypedDict):
    """A point in time, for programs and for people."""

    unix: int
    iso: str


class RepoRow(TypedDict):
    """A repo in a collection, and the workspaces that say they are indexed there."""

    repo: str
    points_count: int
    workspace_paths: list[str]


class CollectionRepos(TypedDict, total=False):
    """A collection and its repos."""

    collection: str
    points_count: int
    repos: list[RepoRow]
    samples: list[dict[str, Any]]


@dataclass(frozen=True)
class Times:
    """When the newest of the scanned points was written, and the newest of the files."""

    scanned: int
    ingested: float | None
    modified: float | None


async def newest(store: VectorStore, collection: str, most: int, batch: int) -> Times:
    """Scan up to `most` points, a batch at a time, for their times."""
    scanned = 0
    ingested: list[float] = []
    modified: list[float] = []
    offset: str | None = None
    while scanned < most:
        page, offset = await store.scroll(
            collection, limit=min(batch, most - scanned), offset=offset
        )
        scanned += len(page)
        known = [facts(record.payload) for record in page]
        ingested += [each["indexed_at"] for each in known]
        modified += [each["modified_at"] for each in known]
        ingested, modified = [max(ingested, default=0.0)], [max(modified, default=0.0)]
        if offset is None:
            break
        await asyncio.sleep(0)
    return Times(scanned, max(ingested, default=0) or None, max(modified, default=0) or None)


def moment(timestamp: float | None) -> Moment | None:
    if timestamp is None:
        return None
    iso = to_iso(datetime.fromtimestamp(int(timestamp), UTC))
    return {"unix": int(timestamp), "iso": iso}


def vectors_config(info: CollectionInfo) -> dict[str, int]:
    """Vector name → dimensions."""
    return {**info.spec.dense, **info.spec.multi, **dict.fromkeys(info.spec.sparse, TERM_IDS)}


def folder_mb(folder: Path) -> float | None:
    """What a folder takes on the disk; None where there is none: a server keeps its own. Blocking.

    Allocated blocks, not lengths: the engine's files have holes.
    """
    if not folder.is_dir():
        return None
    files = [path for path in folder.rglob("*") if path.is_file()]
    return round(sum(_allocated(path) for path in files) / 2**20, 1)


def _allocated(path: Path) -> int:
    try:
        status = path.stat()
    except OSError:  # gone since it was listed
        return 0
    return getattr(status, "st_blocks", status.st_size // BYTES_A_BLOCK) * BYTES_A_BLOCK


async def repos_of(
    store: VectorStore,
    info: CollectionInfo,
    workspaces: Mapping[Path, WorkspaceState],
    *,
    repo: str | None,
    samples: bool,
) -> CollectionRepos:
    """One collection with its repos, or with one of them."""
    where = Filter(must=[Match("repo", repo)]) if repo else None
    counts = await store.facet(info.name, "repo", where=where, limit=MANY_REPOS)
    found: CollectionRepos = {
        "collection": info.name,
        "points_count": sum(each.count for each in counts),
        "repos": [
            {
                "repo": str(each.value),
                "points_count": each.count,
                "workspace_paths": _paths(workspaces, info.name, each.value),
            }
            for each in counts
        ],
    }
    if samples:
        page, _ = await store.scroll(info.name, where=where, limit=SAMPLES)
        found["samples"] = [_sample(facts(record.payload)) for record in page]
    return found


def _paths(workspaces: Mapping[Path, WorkspaceState], collection: str, repo: Scalar) -> list[str]:
    return [
        str(path)
        for path, state in workspaces.items()
        if (state.collection_name, state.repo) == (collection, repo)
    ]


def _sample(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {name: payload.get(name) for name in SAMPLE_FIELDS}


def wanted_collections(
    infos: Sequence[CollectionInfo], collection: str | None
) -> list[CollectionInfo]:
    return [i for i in infos if holds_code(i) and (collection is None or i.name == collection)]
