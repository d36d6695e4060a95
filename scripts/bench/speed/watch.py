"""Measures how soon a save is searchable, and what following a repository takes.

    .venv/bin/python -m scripts.bench.speed.watch FOLDER [--files 3000] [--saves 100]

So many files of the folder are copied into a git repository, indexed with the embedded engine and
followed. A save adds a function to a random file, in place or by renaming over it; it is searchable
when the store counts a chunk that defines the function. Prints one JSON object: the time from save
to searchable, the check that finds nothing, CPU while nothing happens, and a switch of branches.
"""

import asyncio
import json
import random
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctx_core.engine.engine import open_engine
from ctx_core.settings import Settings
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.schema.fields import SYMBOLS
from ctx_indexer.watch.watch import Watch
from scripts.bench.arguments import program_parser
from scripts.bench.corpora.sized import SEED, copied, shuffled
from scripts.bench.figures import commit, note, percentiles, with_load
from scripts.bench.fixtures.repositories import Repository
from scripts.bench.usage import own_cpu_seconds

COLLECTION = "bench"
POLL_SECONDS = 0.004
WAIT_SECONDS = 60.0
PAUSE_SECONDS = (0.3, 1.2)  # between two saves: a person who works
IDLE_SECONDS = 20.0
CHECKS = 20
SWITCHED = 300  # files that differ between two branches


@dataclass
class Followed:
    """A repository that is followed, and the parts that answer for it."""

    repository: Repository
    store: VectorStore
    indexer: Indexer
    watch: Watch
    checkout: Checkout

    async def until(self, is_true: Callable[[], Awaitable[bool]]) -> float:
        """Return the seconds until something is so."""
        began = time.perf_counter()
        while not await is_true():
            if time.perf_counter() - began > WAIT_SECONDS:
                raise TimeoutError(f"not within {WAIT_SECONDS} s: {self.watch.statuses()}")
            await asyncio.sleep(POLL_SECONDS)
        return time.perf_counter() - began

    async def defines(self, symbol: str) -> bool:
        return bool(await self.store.count(COLLECTION, Filter(must=[Match(SYMBOLS, symbol)])))

    async def is_idle(self) -> bool:
        [status] = self.watch.statuses()
        return status.state == "following" and not status.pending and not status.lag_seconds


@asynccontextmanager
async def followed(repository: Repository, data: Path) -> AsyncIterator[Followed]:
    settings = Settings(data_dir=data)
    async with open_engine(settings, settings.code_model) as engine:
        manifest = Manifest(settings.index_state_path)
        indexer = Indexer(engine.vectors, engine.embedder, manifest, store_key="bench")
        watch = Watch(indexer)
        work = asyncio.create_task(watch.run(known=False))
        report = await indexer.index(repository.root, collection=COLLECTION, repo="bench")
        note(f"indexed {report.files} files in {report.seconds:.1f} s")
        [checkout] = await indexer.checkouts.of(COLLECTION)
        found = Followed(repository, engine.vectors, indexer, watch, checkout)
        await found.until(found.is_idle)
        try:
            yield found
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            manifest.close()


async def saves(found: Followed, count: int) -> list[float]:
    draw = random.Random(SEED)
    files = sorted(found.repository.root.rglob("*.py"))
    seconds = []
    for number in range(count):
        path, name = draw.choice(files), f"saved_{number}_by_bench"
        text = path.read_text("utf-8", "replace") + f"\n\ndef {name}():\n    return {number}\n"
        if number % 2:
            path.write_text(text)
        else:
            partial = path.with_name(f".{path.name}.tmp")
            partial.write_text(text)
            partial.replace(path)
        seconds.append(await found.until(lambda name=name: found.defines(name)))  # type: ignore[misc]
        await asyncio.sleep(draw.uniform(*PAUSE_SECONDS))
    return seconds


async def checks(found: Followed) -> dict[str, float]:
    """Measure a comparison of all files that finds nothing new; CPU with git's."""
    skipped: dict[str, tuple[int, float]] = {}
    await found.indexer.update(found.checkout, await found.indexer.changed(found.checkout, skipped))
    before, began = own_cpu_seconds(), time.perf_counter()
    for _ in range(CHECKS):
        await found.indexer.changed(found.checkout, skipped)
    wall = (time.perf_counter() - began) / CHECKS
    return {
        "cpu_ms": round((own_cpu_seconds() - before) / CHECKS * 1000, 1),
        "wall_ms": round(wall * 1000, 1),
    }


async def idle_share() -> float:
    """Measure the share of a core that is taken while nothing happens."""
    before = own_cpu_seconds()
    await asyncio.sleep(IDLE_SECONDS)
    return (own_cpu_seconds() - before) / IDLE_SECONDS


async def switch(found: Followed) -> float:
    """Measure a switch to a branch with other content in many files, until it is all searchable."""
    repository = found.repository
    repository.commit()
    repository.git("checkout", "-q", "-b", "other")
    files = sorted(repository.root.rglob("*.py"))[:SWITCHED]
    for path in files:
        text = path.read_text("utf-8", "replace")
        path.write_text(f"{text}\n\ndef only_on_the_branch():\n    return 1\n")
    repository.commit()
    wanted = Filter(must=[Match(SYMBOLS, "only_on_the_branch")])

    async def has(count: int) -> bool:
        return await found.store.count(COLLECTION, wanted) == count

    await found.until(lambda: has(len(files)))
    await found.until(found.is_idle)
    repository.git("checkout", "-q", "-")
    return await found.until(lambda: has(0))


async def measure(folder: Path, files: int, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        repository = Repository.create(Path(place) / "repository")
        copied(shuffled(folder)[:files], folder, repository.root)
        repository.commit()
        async with followed(repository, Path(place) / "data") as found:
            [status] = found.watch.statuses()
            note("idle")
            idle = await idle_share()
            note("saves")
            seconds = await saves(found, count)
            note("checks")
            await asyncio.sleep(2.5)  # what was saved just now would be read again
            noop = await checks(found)
            note("switch")
            switched = await switch(found)
    return with_load(
        {
            "files": files,
            "watched_folders": status.watched_folders,
            "save_to_searchable_ms": percentiles(seconds),
            "saves": count,
            "check": noop,
            "idle_percent_of_a_core": round(idle * 100, 2),
            "switch_back_of_files": SWITCHED,
            "switch_s": round(switched, 2),
            "commit": commit(),
        }
    )


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=3_000)
    parser.add_argument("--saves", type=int, default=100)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.folder, given.files, given.saves)), indent=2))


if __name__ == "__main__":
    main()
