"""Measures an index run on a folder: files and chunks per CPU-second, wall time, peak memory.

    .venv/bin/python -m scripts.bench.speed.indexing FOLDER

The folder is indexed by a process of its own with the embedded engine and an empty data folder,
then again (nothing changed), then anew with the embeddings cached. CPU seconds and memory are of
the whole process tree; of memory `pss` counts shared pages once, `pss_dirty` without the pages of
files that the system may drop. Prints one JSON object.

With --graph it is indexed twice into empty data folders, with and without symbol tables, each time
by one process without workers, and the share of CPU that the tables take is printed.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ctx_core.engine.engine import open_engine
from ctx_core.settings import load
from ctx_indexer.indexing import prepare, workers
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.syntax.outline import Outline, outline
from scripts.bench.arguments import program_parser
from scripts.bench.usage import watch


async def index(folder: Path, recreate: bool) -> dict[str, Any]:
    settings = load()
    async with open_engine(settings, settings.code_model) as engine:
        state = Manifest(settings.data_dir / "index.sqlite")
        indexer = Indexer(engine.vectors, engine.embedder, state, store_key="bench")
        gaps: list[float] = []
        watching = asyncio.create_task(loop_gaps(gaps))
        report = await indexer.index(folder, collection="bench", repo="bench", recreate=recreate)
        watching.cancel()
        state.close()
    gaps.sort()
    return {
        "files": report.files,
        "chunks": report.chunks,
        "failures": len(report.failures),
        "index_s": round(report.seconds, 2),
        "loop_gap_p95_ms": round(gaps[int(len(gaps) * 0.95)] * 1000, 1) if gaps else 0.0,
        "loop_gap_max_ms": round(gaps[-1] * 1000, 1) if gaps else 0.0,
    }


async def loop_gaps(gaps: list[float]) -> None:
    """How late the event loop wakes a sleeper: what a query would wait."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.005)
        gaps.append(time.perf_counter() - began - 0.005)


def without_tables() -> None:
    """Let this process index without symbol tables, though the caller asks for them."""

    def plain(text: str, language: str, *, with_symbols: bool) -> Outline:
        return outline(text, language, with_symbols=False)

    prepare.outline = plain  # type: ignore[assignment, attr-defined]


def graph_share(command: list[str]) -> dict[str, Any]:
    """Measure what the symbol tables add to the CPU time of a first run, the better of two."""
    spent: dict[str, list[float]] = {"with": [], "without": []}
    for _ in range(2):
        for name, times in spent.items():
            with tempfile.TemporaryDirectory() as data:
                env = os.environ | {"CTX_DATA_DIR": data, "CTX_LOG_LEVEL": "error"}
                times.append(watch([*command, f"--tables={name}"], env)["cpu_s"])
    more = min(spent["with"]) / min(spent["without"]) - 1
    return {"cpu_s": spent, "added": round(more, 3), "load": round(os.getloadavg()[0], 1)}


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--recreate", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--graph", action="store_true", help="what symbol tables add")
    parser.add_argument("--tables", choices=["with", "without"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.tables:
        workers.FEW_FILES, workers.FEW_BYTES = sys.maxsize, sys.maxsize  # no other process
    if arguments.tables == "without":
        without_tables()
    if arguments.once:
        print(json.dumps(asyncio.run(index(arguments.folder, arguments.recreate))))
        return
    command = [sys.executable, "-m", __spec__.name, str(arguments.folder), "--once"]
    if arguments.graph:
        print(json.dumps(graph_share(command), indent=2))
        return
    with tempfile.TemporaryDirectory() as data:
        env = os.environ | {"CTX_DATA_DIR": data, "CTX_LOG_LEVEL": "error"}
        first, again, cached = (
            watch(command, env),
            watch(command, env),
            watch([*command, "--recreate"], env),
        )
        size = sum(f.stat().st_blocks * 512 for f in Path(data).rglob("*") if f.is_file())
    runs = {"first": first, "unchanged": again, "recreated": cached}
    print(json.dumps(runs | {"data_mb": round(size / 2**20, 1)}, indent=2))


if __name__ == "__main__":
    main()
