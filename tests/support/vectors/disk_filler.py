"""Run as a script: write to an embedded store until its disk is full, and say what happens.

Arguments: the folder, on a small disk of its own. A process that dies by SIGBUS says nothing.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from ctx_core.errors import StorageFailed
from ctx_core.vectors.edge.free_space import MEGABYTE
from ctx_core.vectors.edge.store import EdgeStore
from ctx_core.vectors.points import Point
from tests.support.vectors.samples import SPEC, point

MIN_FREE = 24 * MEGABYTE
BATCH = 200
NAME = "full"
FOREIGN_BYTES = 80 * MEGABYTE  # what somebody else has on the disk, and then deletes


async def main(folder: Path) -> None:
    foreign = folder / "foreign"
    foreign.write_bytes(b"x" * FOREIGN_BYTES)
    store = await EdgeStore.open(folder / "vectors", MIN_FREE)
    await store.ensure_collection(NAME, SPEC)
    written, refusal = await fill(store)
    read = await store.count(NAME)
    page, _ = await store.scroll(NAME, limit=written)
    ready = await failure(store)
    foreign.unlink()
    healed = await failure(store)
    await store.upsert(NAME, points(written))
    await store.close()
    store = await EdgeStore.open(folder / "vectors", MIN_FREE)
    kept = await store.count(NAME)
    await store.close()
    report = {
        "written": written,
        "refusal": refusal,
        "read": [read, len(page)],
        "ready": ready,
        "healed": healed,
        "kept": kept,
    }
    print(json.dumps(report))


async def fill(store: EdgeStore) -> tuple[int, str]:
    """Write until the store refuses; return how many points were acknowledged, and its words."""
    written = 0
    while True:
        try:
            await store.upsert(NAME, points(written))
        except StorageFailed as error:
            return await store.count(NAME), error.message
        written += BATCH


def points(first: int) -> list[Point]:
    noise = os.urandom(2000).hex()
    return [point(n, {"n": n, "text": noise}) for n in range(first, first + BATCH)]


async def failure(store: EdgeStore) -> str | None:
    """Return why the store is not ready."""
    try:
        await store.ping()
    except StorageFailed as error:
        return error.message
    return None


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
