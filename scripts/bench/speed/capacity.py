"""Measures what many chunks cost: memory, disk, CPU to write them, and the time of a search.

    .venv/bin/python -m scripts.bench.speed.capacity --engine embedded --points 50000 100000
    .venv/bin/python -m scripts.bench.speed.capacity --engine server --points 50000 --folder DIR

A folder of code (by default this repository) is indexed once. Its points are then written again
under the names of other repositories, with vectors that differ a little, until there are as many as
asked. Searches ask one of the repositories, and all. `server` is a Qdrant of its own, as in tests.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import httpx
import numpy as np

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_core.vectors.points import Point, Record, Vector
from ctx_core.vectors.specs import CollectionSpec
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.schema.fields import REPO
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.view.view import View
from scripts.bench.arguments import program_parser
from scripts.bench.figures import ROOT, note, with_load
from scripts.bench.fixtures import qdrant
from scripts.bench.usage import cpu_seconds, resident_mb

COLLECTION = "code"
BATCH = 256
NOISE = 0.05  # of a vector's length: neighbours of the same text stay neighbours
QUERIES = 60
NAMES = UUID("6f1c7c2e-52a1-4f0e-9d36-7f2f0f3a9b11")
WORDS = "retry backoff lease outbox vector token parse commit chunk cursor schema guard".split()


@dataclass(frozen=True)
class Sample:
    """The points of one repository, and the shape of their collection."""

    spec: CollectionSpec
    records: Sequence[Record]


async def sampled(source: Path, work: Path) -> Sample:
    """Index a folder in an engine of its own, and read the points."""
    settings = Settings(CTX_DATA_DIR=work / "sample")
    async with open_engine(settings, settings.code_model) as engine:
        indexer = Indexer(
            engine.vectors, engine.embedder, Manifest(settings.index_state_path), store_key="sample"
        )
        await indexer.index(source, collection=COLLECTION, repo=COLLECTION)
        indexer.close()
        spec = (await engine.vectors.collection_info(COLLECTION)).spec
        records: list[Record] = []
        offset: str | None = None
        while True:
            page, offset = await engine.vectors.scroll(
                COLLECTION, limit=BATCH, offset=offset, vectors=["dense", "bm25"]
            )
            records += page
            if offset is None:
                return Sample(spec, records)


def points(sample: Sample, first: int, last: int) -> Iterator[Point]:
    """Yield the points of these numbers: each round of the sample is another repository."""
    rng = np.random.default_rng(first)
    for number in range(first, last):
        round_, place = divmod(number, len(sample.records))
        record = sample.records[place]
        dense = np.asarray(record.vectors["dense"], dtype=np.float32)
        noise = rng.standard_normal(len(dense)).astype(np.float32)
        moved = dense + noise * (NOISE * np.linalg.norm(dense) / np.linalg.norm(noise))
        dense_vector: Vector = (moved / np.linalg.norm(moved)).tolist()
        vectors = {**record.vectors, "dense": dense_vector}
        payload = {**record.payload, REPO: f"repo-{round_}"}
        yield Point(str(uuid5(NAMES, str(number))), vectors, payload)


async def filled(engine: Engine, sample: Sample, first: int, last: int) -> None:
    batch: list[Point] = []
    for point in points(sample, first, last):
        batch.append(point)
        if len(batch) == BATCH:
            await engine.vectors.upsert(COLLECTION, batch)
            batch = []
    await engine.vectors.upsert(COLLECTION, batch)


async def searched(engine: Engine, repo: str | None) -> dict[str, float]:
    """Return the time of a search, in one repository or in all."""
    searcher = Searcher(engine.vectors, engine.embedder)
    filters = SearchFilters(repos=(repo,)) if repo else SearchFilters()
    taken, began_cpu = [], time.process_time()
    for number in range(QUERIES):
        words = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 5, 7)]
        request = SearchRequest(parse_queries(f"{' '.join(words)} {number}"), filters)
        began = time.perf_counter()
        await searcher.search(View(COLLECTION), request)
        taken.append(time.perf_counter() - began)
    cpu = (time.process_time() - began_cpu) / QUERIES
    return {
        "p50_ms": round(statistics.median(taken) * 1000, 1),
        "own_cpu_ms": round(cpu * 1000, 1),
    }


@dataclass(frozen=True)
class Process:
    """The process that holds the points: a server, or this one."""

    pid: int
    folder: Path
    url: str | None = None

    def megabytes(self) -> int:
        return int(resident_mb(self.pid)["rss"])

    def disk_megabytes(self) -> int:
        """Return what its files take; a server may merge some meanwhile."""
        blocks = 0
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with contextlib.suppress(OSError):
                    blocks += (Path(folder) / name).stat().st_blocks
        return blocks * 512 // 1_000_000

    async def optimised(self) -> None:
        """Wait until a server has built its indexes."""
        while self.url is not None:
            async with httpx.AsyncClient(trust_env=False) as client:
                answer = (await client.get(f"{self.url}/collections/{COLLECTION}")).json()
            if answer["result"]["status"] == "green":
                return
            await asyncio.sleep(1.0)


@contextlib.asynccontextmanager
async def opened(kind: str, work: Path) -> AsyncIterator[tuple[Engine, Process]]:
    if kind == "embedded":
        settings = Settings(CTX_DATA_DIR=work / "embedded")
        async with open_engine(settings, settings.code_model) as engine:
            yield engine, Process(os.getpid(), work / "embedded" / "vectors")
        return
    folder, programs = work / "server", work / "program"
    for each in (work, folder, programs):
        each.mkdir(exist_ok=True)
        each.chmod(0o777)
    program = qdrant.unprivileged(qdrant.find_binary(), programs)
    http, grpc = qdrant.free_port(), qdrant.free_port()
    process = qdrant.run_server(program, folder, http, grpc)
    url = f"http://127.0.0.1:{http}"
    try:
        qdrant.wait_until_ready(url, process, folder)
        settings = Settings(CTX_DATA_DIR=work / "data", QDRANT_URL=url, QDRANT_TIMEOUT_SECONDS=120)
        async with open_engine(settings, settings.code_model) as engine:
            yield engine, Process(process.pid, folder / "storage", url)
    finally:
        process.terminate()
        process.wait()


async def measured(given: argparse.Namespace, work: Path) -> dict[str, Any]:
    note(f"indexing {given.source}")
    sample = await sampled(given.source, work)
    figures: dict[str, Any] = {"engine": given.engine, "sample": len(sample.records), "sizes": {}}
    async with opened(given.engine, work) as (engine, process):
        await engine.vectors.ensure_collection(COLLECTION, sample.spec)
        before, written = process.megabytes(), 0
        for size in given.points:
            note(f"writing up to {size} points")
            began, ours = cpu_seconds(process.pid), time.process_time()
            await filled(engine, sample, written, size)
            await process.optimised()
            spent = cpu_seconds(process.pid) - began
            if process.url is not None:
                spent += time.process_time() - ours
            figures["sizes"][size] = with_load(
                {
                    "cpu_s_of_these": round(spent, 1),
                    "rss_mb": process.megabytes(),
                    "rss_mb_grown": process.megabytes() - before,
                    "disk_mb": process.disk_megabytes(),
                    "one_repo": await searched(engine, "repo-1"),
                    "all_repos": await searched(engine, None),
                    "rss_mb_searched": process.megabytes(),
                }
            )
            written = size
    return figures


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--engine", choices=["embedded", "server"], required=True)
    parser.add_argument("--points", type=int, nargs="+", default=[50_000, 100_000])
    parser.add_argument("--source", type=Path, default=ROOT, help="folder of code to sample")
    parser.add_argument("--folder", help="parent of the data, which is deleted afterwards")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="ctx-capacity-", dir=given.folder))
    work.chmod(0o755)
    try:
        print(json.dumps(asyncio.run(measured(given, work)), indent=1))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
