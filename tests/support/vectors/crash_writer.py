"""Run as a script: write points to an embedded store for ever, print each acknowledged batch.

Arguments: the data folder, the number of the first point.
"""

import asyncio
import sys
from pathlib import Path

from ctx_core.vectors.edge.store import EdgeStore
from tests.support.vectors.samples import SPEC, point

BATCH = 40


async def main(folder: Path, first: int) -> None:
    store = await EdgeStore.open(folder)
    await store.ensure_collection("crash", SPEC)
    print("open", flush=True)
    while True:
        points = [
            point(n, {"n": n, "text": "some words " * 20}) for n in range(first, first + BATCH)
        ]
        await store.upsert("crash", points)
        first += BATCH
        print(first, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
