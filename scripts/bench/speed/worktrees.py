"""Measures what a second worktree costs: CPU and disk of adding it, and searches in either.

    .venv/bin/python -m scripts.bench.speed.worktrees [--files 5000] [--changed 20]

A synthetic repository is indexed with the embedded engine; then a worktree of it that differs in
some files is added. CPU is that of this process and of the git processes it starts; what git's
listing of the files takes is measured by itself. Prints one JSON object.
"""

import asyncio
import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.source.listing import list_files
from ctx_indexer.view.view import View
from scripts.bench.arguments import program_parser
from scripts.bench.fixtures.repositories import Repository
from scripts.bench.usage import own_cpu_seconds

SEED = 7
FUNCTIONS = 12  # of a file
QUERIES = 40
COLLECTION = "bench"
WORDS = "order invoice retry cache token parser stream socket queue worker record schema".split()


def source(draw: random.Random) -> str:
    return "\n".join(
        f"def {draw.choice(WORDS)}_{draw.choice(WORDS)}_{draw.randrange(10**6)}(value, {name}):\n"
        f'    """{" ".join(draw.choices(WORDS, k=8))}."""\n'
        + "".join(f"    {name} = value + {draw.randrange(10**6)}\n" for _ in range(6))
        + f"    return {name}\n"
        for name in draw.choices(WORDS, k=FUNCTIONS)
    )


def make(folder: Path, files: int, changed: int) -> tuple[Repository, Path]:
    """Make a repository, and a worktree of it that differs in some files."""
    draw = random.Random(SEED)
    repository = Repository.create(folder / "repo")
    paths = [f"src/p{n % 50}/m{n}.py" for n in range(files)]
    for path in paths:
        repository.write(path, source(draw))
    repository.commit()
    repository.git("worktree", "add", "-q", str(folder / "tree"))
    for path in draw.sample(paths, changed):
        (folder / "tree" / path).write_text(source(draw))
    return repository, folder / "tree"


def data_mb(folder: Path) -> float:
    return sum(f.stat().st_blocks * 512 for f in folder.rglob("*") if f.is_file()) / 2**20


async def timed_index(indexer: Indexer, folder: Path) -> dict[str, Any]:
    cpu, began = own_cpu_seconds(), time.perf_counter()
    report = await indexer.index(folder, collection=COLLECTION)
    return {
        "cpu_s": round(own_cpu_seconds() - cpu, 2),
        "wall_s": round(time.perf_counter() - began, 2),
        "written": report.written,
        "shared": report.shared,
        "chunks": report.chunks,
    }


async def searched(engine: Engine, indexer: Indexer, checkout: Checkout) -> dict[str, float]:
    """The time of searches that see a checkout, on the CPU and on the clock."""
    hidden = await indexer.checkouts.hidden([checkout])
    draw = random.Random(SEED)
    searcher = Searcher(engine.vectors, engine.embedder)
    times, cpu = [], 0.0
    for number in range(QUERIES + 5):
        query = " ".join(draw.choices(WORDS, k=3))
        filters = SearchFilters(repos=(checkout.repo,))
        view = View(COLLECTION, hidden=await indexer.checkouts.hidden([checkout]))
        used, began = time.process_time(), time.perf_counter()
        await searcher.search(view, SearchRequest(parse_queries(query), filters))
        if number >= 5:  # the first fill caches
            times.append(time.perf_counter() - began)
            cpu += time.process_time() - used
    return {
        "hidden_versions": len(hidden),
        "p50_ms": round(statistics.median(times) * 1000, 1),
        "cpu_ms": round(cpu / QUERIES * 1000, 1),
    }


async def measure(folder: Path, files: int, changed: int) -> dict[str, Any]:
    repository, tree = make(folder, files, changed)
    cpu = own_cpu_seconds()
    list_files(tree)
    listing = own_cpu_seconds() - cpu
    data = folder / "data"
    settings = Settings(data_dir=data)
    figures: dict[str, Any] = {"files": files, "changed": changed}
    async with open_engine(settings, settings.code_model) as engine:
        manifest = Manifest(settings.index_state_path)
        indexer = Indexer(engine.vectors, engine.embedder, manifest, store_key="bench")
        figures["first"] = await timed_index(indexer, repository.root)
        [main] = await indexer.checkouts.of(COLLECTION)
        figures["search_alone"] = await searched(engine, indexer, main)
        await asyncio.sleep(5)  # the engine writes what is left to the disk
        before = data_mb(data)
        figures["worktree"] = await timed_index(indexer, tree)
        await asyncio.sleep(5)
        figures["disk_mb"] = [round(before, 1), round(data_mb(data), 1)]
        figures["disk_more_percent"] = round((data_mb(data) / before - 1) * 100, 2)
        main, added = await indexer.checkouts.of(COLLECTION)
        figures["search_main"] = await searched(engine, indexer, main)
        figures["search_worktree"] = await searched(engine, indexer, added)
        figures["unchanged"] = await timed_index(indexer, tree)
        manifest.close()
    figures["listing_cpu_s"] = round(listing, 2)
    figures["worktree_cpu_beyond_listing_s"] = round(figures["worktree"]["cpu_s"] - listing, 2)
    return figures


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--changed", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = measure(Path(folder).resolve(), arguments.files, arguments.changed)
        print(json.dumps(asyncio.run(made), indent=2))


if __name__ == "__main__":
    main()
