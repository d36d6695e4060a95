"""Compares the code index with a clean rebuild: ids, texts, payloads, dense vectors and terms."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ctx_core.embedding.factory import open_local
from ctx_core.settings.models import CODE_MODEL
from ctx_core.vectors.points import Point
from ctx_indexer.indexing.prepare import Job, Prepared, prepare
from ctx_indexer.indexing.report import Failure
from ctx_indexer.schema import fields
from ctx_indexer.source.repo import repo_of
from ctx_indexer.source.walk import FileLimits, SourceFile, walk
from scripts.bench.faults.entries import SHOWN, scroll
from scripts.bench.faults.likeness import unlike
from scripts.bench.faults.world import INDEXER, World, collection

TIMES = ("modified_at", "indexed_at")  # what a rebuild writes anew


async def inspect_index(world: World) -> list[str]:
    """Return how the index differs from one built anew from the files, in words."""
    rebuilt, failures = await asyncio.to_thread(_rebuild, world.project(INDEXER))
    name = collection(INDEXER, "code")
    points = {each["id"]: each for each in await scroll(world, name, with_vector=True)}
    found = [f"{each.path} cannot be indexed: {each.reason}" for each in failures]
    for words, paths in compare(rebuilt, points).items():
        found.append(f"{len(paths)} points {words}: {sorted(paths)[:SHOWN]}")
    return [f"{INDEXER}: {each}" for each in found]


def compare(
    rebuilt: Mapping[str, Point], points: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Return what differs, each with the paths of the points where it does."""
    wrong: dict[str, list[str]] = {}
    for id_ in rebuilt.keys() | points.keys():
        if words := _difference(rebuilt.get(id_), points.get(id_)):
            payload = rebuilt[id_].payload if id_ in rebuilt else points[id_]["payload"]
            wrong.setdefault(words, []).append(payload[fields.PATH])
    return wrong


def _difference(rebuilt: Point | None, point: Mapping[str, Any] | None) -> str:
    if point is None:
        return "are missing"
    if rebuilt is None:
        return "are of no chunk"
    if _lasting(point["payload"]) != _lasting(rebuilt.payload):
        return "have another payload"
    return unlike(rebuilt, point["vector"])


def _lasting(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload without the times of its file and its run."""
    details = json.loads(payload[fields.DETAILS])
    return {**payload, fields.DETAILS: {k: v for k, v in details.items() if k not in TIMES}}


def _rebuild(project: Path) -> tuple[dict[str, Point], list[Failure]]:
    """Return the points of the files as they are, by id, and files without any. Blocks."""
    files = [each for each in walk(project) if isinstance(each, SourceFile)]
    job = Job(project, repo_of(project).name, datetime.now(UTC), FileLimits(), files)
    outcomes = prepare(job)
    chunks = [point for each in outcomes if isinstance(each, Prepared) for point in each.points]
    embedder = open_local(CODE_MODEL, project)
    rows = embedder.embed_documents([each.embedding_text for each in chunks])
    points = {each.id: each.with_dense(row) for each, row in zip(chunks, rows, strict=True)}
    return points, [each for each in outcomes if isinstance(each, Failure)]
