"""Run as a script: replace a collection for ever.

Argument: the data folder. Prints `open`, and then a line for each collection that took the name.
"""

import asyncio
import sys
from pathlib import Path

from ctx_core.vectors.edge.store import EdgeStore
from tests.support.vectors.samples import POINTS, SPEC

NAME = "kept"


async def main(folder: Path) -> None:
    store = await EdgeStore.open(folder)
    if not await store.list_collections():
        await store.ensure_collection(NAME, SPEC)
        await store.upsert(NAME, POINTS)
    print("open", flush=True)
    while True:
        built = await store.build(NAME, SPEC)
        await store.upsert(built, POINTS)
        await store.swap(NAME, built)
        print("swapped", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
