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
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from services.core.engine.engine import open_engine  # noqa: E402
from services.core.settings import load  # noqa: E402
from services.indexer.indexing.indexer import Indexer  # noqa: E402
from services.indexer.indexing.manifest import Manifest  # noqa: E402

SAMPLE_SECONDS = 0.2  # reading a process's memory map halts it for a moment
TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """The process and everything it started that still runs."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := stat_fields(int(folder.name))):
            parents[int(folder.name)] = int(fields[1])
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def stat_fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def cpu_seconds(pid: int, *, waited_for: bool) -> float:
    """Of the process, and of the children that it started and waited for."""
    fields = stat_fields(pid)
    return sum(map(int, fields[11 : 15 if waited_for else 13])) / TICKS if fields else 0.0


def memory_mb(pid: int, field: str) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def watch(command: list[str], env: dict[str, str]) -> dict[str, Any]:
    """Run a command that prints JSON, and sample its tree until it ends."""
    began = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    cpu: dict[int, float] = {}
    peak = {"Pss": 0.0, "Rss": 0.0, "Anonymous": 0.0}
    while process.poll() is None:
        members = tree(process.pid)
        for pid in members:  # of the others each child is a member itself
            seconds = cpu_seconds(pid, waited_for=pid == process.pid)
            cpu[pid] = max(cpu.get(pid, 0.0), seconds)
        peak = {
            field: max(most, sum(memory_mb(pid, field) for pid in members))
            for field, most in peak.items()
        }
        time.sleep(SAMPLE_SECONDS)
    wall = time.perf_counter() - began
    answer = json.loads(process.communicate()[0])
    total = sum(cpu.values())
    return answer | {
        "wall_s": round(wall, 2),
        "cpu_s": round(total, 2),
        "files_per_cpu_s": round(answer["files"] / total, 1),
        "chunks_per_cpu_s": round(answer["chunks"] / total, 1),
        "peak_mb": {field.lower(): round(value) for field, value in peak.items()},
    }


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
