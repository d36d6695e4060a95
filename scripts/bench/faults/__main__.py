"""Breaks what ctx runs on and ctx itself, under load, and reports what held.

    .venv/bin/python -m scripts.bench.faults [--cycles 100] [--seed 1] [--only WORD] [--json FILE]

Qdrant, PostgreSQL, two memory servers (SQLite, PostgreSQL) and an indexer run for the whole time.
In each cycle clients write and search, one fault is injected, and then everything acknowledged must
be there, points equal records, the index equals the files, the outbox is empty, git is sound,
errors are typed. Faults: kill -9, pause, restart, full disk, loss of power, slow fsync, clock jump.
Full disks and losses of power need root (ext4 mounted by a loop), slow fsync and clock jumps a C
compiler; what cannot be tried is named. The exit code is 1 where something did not hold.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from scripts.bench.arguments import program_parser
from scripts.bench.faults.cycle import Bench, Outcome
from scripts.bench.faults.fault import faults
from scripts.bench.faults.tally import figures, table
from scripts.bench.faults.world import World, running_world
from scripts.bench.figures import note

MEMORY = "/dev/shm"


async def run(world: World, given: argparse.Namespace) -> list[Outcome]:
    rng = random.Random(given.seed)
    bench = Bench(world, rng)
    known = faults(world, given.only)
    if not known:
        raise SystemExit(f"no fault that can be tried here is called {given.only!r}")
    outcomes: list[Outcome] = []
    for number in range(given.cycles):
        [fault] = rng.choices(known, [each.weight for each in known])
        began = time.monotonic()
        outcome = await bench.run(fault)
        outcomes.append(outcome)
        seconds = time.monotonic() - began
        note(f"{number + 1} {fault}: {outcome.writes} writes, {seconds:.1f} s {outcome.broken}")
        if given.json:
            given.json.write_text(
                json.dumps(figures(outcomes, given.seed, not_tried(world)), indent=1)
            )
        if outcome.broken and given.stop:
            break
    return outcomes


def not_tried(world: World) -> list[str]:
    """Name what this machine does not allow."""
    real = all(disk.is_real for disk in world.disks.values())
    return [
        *([] if real else ["full disk and loss of power: no file system can be mounted"]),
        *([] if world.shims else ["slow fsync and clock jumps: there is no C compiler"]),
    ]


def main() -> int:
    parser = program_parser(__doc__)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="faults whose name holds this")
    parser.add_argument("--json", type=Path, help="file for the figures, written after each cycle")
    parser.add_argument("--stop", action="store_true", help="stop at the first broken cycle")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # disks are unmounted at any end
    parent = MEMORY if os.access(MEMORY, os.W_OK) else None
    with running_world(parent) as world:
        outcomes = asyncio.run(run(world, given))
        result = figures(outcomes, given.seed, not_tried(world))
    print(table(result))
    return 1 if result["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
