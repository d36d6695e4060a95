"""Merges random histories of two clones and counts what is lost: nothing may be.

    .venv/bin/python -m scripts.bench.memory.histories --histories 1000

Each history has two clones of one bare repository, which write, edit by hand, remove, decide,
commit code, push and pull by chance, and sync at the end. Then both clones and the remote must hold
the same knowledge with every line that nobody removed; a line that a strategy passed over must be
in a commit. A history follows from its seed alone. Prints one JSON object; the exit code is 1 if a
history failed.
"""

import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit, note, with_load
from scripts.bench.fixtures.clones import open_clones
from scripts.bench.memory.clone_history import Loss, TwoClones

MEMORY = Path("/dev/shm")  # git waits for the disk at every commit
NOTE_EVERY = 25  # histories


async def merge_history(seed: int, folder: Path) -> Counter[str]:
    """Run one history in an empty folder; return its counts. Raises Loss."""
    async with open_clones(folder) as clones:
        history = TwoClones(seed, clones)
        await history.run()
        await history.sync_all()
        await history.check()
    return history.counts


def measure(count: int, first: int) -> dict[str, object]:
    """Run histories one after the other; return the sums and the seeds that failed."""
    totals: Counter[str] = Counter()
    failed: dict[int, str] = {}
    began = time.perf_counter()
    for number in range(count):
        folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        try:
            totals += asyncio.run(merge_history(first + number, folder))
        except Loss as loss:
            failed[first + number] = str(loss)
            note(f"seed {first + number}: {loss}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if (number + 1) % NOTE_EVERY == 0:
            note(f"{number + 1} of {count} histories, {len(failed)} failed")
    seconds = round(time.perf_counter() - began, 1)
    return {
        "histories": count,
        "failed": failed,
        "seconds": seconds,
        **dict(sorted(totals.items())),
    }


def main() -> int:
    parser = program_parser(__doc__)
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the first history")
    arguments = parser.parse_args()
    figures = measure(arguments.histories, arguments.seed)
    print(json.dumps(with_load({"commit": commit(), **figures}), indent=2))
    return 1 if figures["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
