"""Several processes open one new SQLite file at the same time."""

import asyncio
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

from ctx_core.embedding.cache import EmbeddingCache
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import RepoKey
from ctx_memory.records.database import Database

PROCESSES = 8
ROUNDS = 10  # without the retry one in five fails
ALL_THERE_SECONDS = 30.0

fork = multiprocessing.get_context("fork")


def open_cache(path: Path) -> None:
    EmbeddingCache(path).close()


def open_state(path: Path) -> None:
    asyncio.run(Manifest(path).checkouts.claim_name(RepoKey("embedded", "code", "repo"), "repo"))


def open_records(path: Path) -> None:
    async def write() -> None:
        database = Database(f"sqlite:///{path}")
        async with database.writing("try it"):
            pass
        await database.close()

    asyncio.run(write())


@pytest.mark.slow
@pytest.mark.parametrize("open_file", [open_cache, open_state, open_records])
def test_processes_can_open_a_new_file_at_the_same_time(
    open_file: Callable[[Path], None], tmp_path: Path
) -> None:
    ended = [
        exitcode
        for number in range(ROUNDS)
        for exitcode in at_once(open_file, tmp_path / f"{number}.sqlite")
    ]
    assert ended == [0] * (ROUNDS * PROCESSES)
    assert not list(tmp_path.glob("*.damaged"))


def at_once(open_file: Callable[[Path], None], path: Path) -> list[int | None]:
    everybody = fork.Barrier(PROCESSES, timeout=ALL_THERE_SECONDS)

    def work() -> None:
        everybody.wait()
        open_file(path)

    processes = [fork.Process(target=work) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]
