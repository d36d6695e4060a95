"""A process that writes a repo at a Qdrant server: `test_lease` runs two of them.

Arguments: the URL, the data folder, the collection, the workspace, and what to do: `index` once,
`follow` until it is killed, or `race` for so many seconds. Prints one JSON line for each event.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import RepoInUse
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.indexing.lease import ServerLeases
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import RepoKey
from ctx_indexer.watch.watch import Watch

REPO, STORE = "shared", "server"
RACE_SECONDS = 6.0


def say(event: str, **details: Any) -> None:
    print(json.dumps({"event": event, "at": time.time(), **details}), flush=True)


async def main(url: str, data: Path, collection: str, workspace: Path, what: str) -> None:
    settings = Settings(data_dir=data, qdrant_url=url)
    async with open_engine(settings, settings.code_model) as engine:
        leases = ServerLeases(engine.vectors)
        if what == "race":
            await race(leases, collection, workspace)
        else:
            await write(engine, leases, settings, collection, workspace, what == "follow")


async def write(
    engine: Engine,
    leases: ServerLeases,
    settings: Settings,
    collection: str,
    workspace: Path,
    follow: bool,
) -> None:
    manifest = Manifest(settings.index_state_path)
    indexer = Indexer(engine.vectors, engine.embedder, manifest, store_key=STORE, leases=leases)
    watch = Watch(indexer)
    work = asyncio.create_task(watch.run(known=False)) if follow else None
    await asyncio.sleep(0)
    try:
        report = await indexer.index(workspace, collection=collection, repo=REPO)
        say("indexed", written=report.written)
    except RepoInUse as error:
        say("refused", message=str(error), pid=error.details["pid"])
    if work is not None:
        await asyncio.gather(work, say_when_following(watch))
    manifest.close()


async def say_when_following(watch: Watch) -> None:
    while True:
        await asyncio.sleep(0.05)
        if [each for each in watch.statuses() if each.state == "following"]:
            say("following")
            return


async def race(leases: ServerLeases, collection: str, workspace: Path) -> None:
    """Take and release the lease again and again; tell when it was held."""
    key = RepoKey(STORE, collection, REPO)
    until = time.time() + RACE_SECONDS
    while time.time() < until:
        try:
            async with leases.hold(key, workspace) as lease:
                began = time.time()
                await asyncio.sleep(0.02)
                lease.check()
                say("held", began=began, ended=time.time())
        except RepoInUse:
            say("busy")


if __name__ == "__main__":
    url, data, collection, workspace, what = sys.argv[1:]
    asyncio.run(main(url, Path(data), collection, Path(workspace), what))
