"""Measures an index run on a folder: files and chunks per CPU-second, wall time, peak memory.

    .venv/bin/python scripts/bench/indexing.py FOLDER

The folder is indexed by a process of its own with the embedded engine and an empty data folder,
then again (nothing changed), then anew with the embeddings cached. CPU seconds and memory are of
the whole process tree; memory is what the tree holds, shared pages counted once (PSS). Prints one
JSON object.
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

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from scripts.bench.usage import watch  # noqa: E402
from services.core.engine.engine import open_engine  # noqa: E402
from services.core.settings import load  # noqa: E402
from services.indexer.indexing.indexer import Indexer  # noqa: E402
from services.indexer.indexing.manifest import Manifest  # noqa: E402


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--recreate", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        print(json.dumps(asyncio.run(index(arguments.folder, arguments.recreate))))
        return
    command = [sys.executable, __file__, str(arguments.folder), "--once"]
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
