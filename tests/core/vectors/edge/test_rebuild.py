"""What only the embedded store has to see to itself: its names survive crashes."""

import asyncio
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctx_core.errors import CollectionNotFound, StorageFailed
from ctx_core.vectors.edge import aliases, named_collections
from ctx_core.vectors.edge.store import EdgeStore
from tests.support.vectors.crash_swapper import NAME
from tests.support.vectors.samples import POINTS, SPEC

ROOT = Path(__file__).parents[4]
KILLS = 4


async def opened(folder: Path) -> EdgeStore:
    store = await EdgeStore.open(folder)
    await store.ensure_collection(NAME, SPEC)
    await store.upsert(NAME, POINTS)
    return store


def folders(folder: Path) -> list[str]:
    return sorted(each.name for each in (folder / named_collections.COLLECTIONS_FOLDER).iterdir())


async def test_a_name_keeps_what_stands_behind_it(folder: Path) -> None:
    store = await opened(folder)
    built = await store.build(NAME, SPEC)
    await store.upsert(built, POINTS[:2])
    await store.swap(NAME, built)
    await store.close()
    assert folders(folder) == [built]
    store = await EdgeStore.open(folder)
    assert await store.count(NAME) == 2
    assert await store.resolve(NAME) == built
    await store.close()


async def test_what_an_interrupted_rebuild_left_goes_at_the_next_start(folder: Path) -> None:
    store = await opened(folder)
    built = await store.build(NAME, SPEC)
    await store.close()
    assert folders(folder) == [NAME, built]
    store = await EdgeStore.open(folder)
    assert await store.count(NAME) == 4
    assert not await store.rebuilding(NAME)
    assert folders(folder) == [NAME]
    await store.close()


async def test_an_interrupted_swap_is_finished_at_the_next_start(folder: Path) -> None:
    store = await opened(folder)
    built = await store.build(NAME, SPEC)
    await store.close()
    aliases.write_aliases(folder, {NAME: built})  # and then the process died
    store = await EdgeStore.open(folder)
    assert await store.count(NAME) == 0
    assert folders(folder) == [built]
    await store.close()


async def test_an_alias_of_a_missing_collection_is_dropped(folder: Path) -> None:
    store = await opened(folder)
    await store.close()
    aliases.write_aliases(folder, {NAME: f"{NAME}@00000000", "gone": "gone@00000000"})
    store = await EdgeStore.open(folder)
    assert await store.count(NAME) == 4
    with pytest.raises(CollectionNotFound):
        await store.count("gone")
    await store.close()


async def test_aliases_that_cannot_be_read_stop_the_start(folder: Path) -> None:
    """The collections that they name would be taken for leftovers, and deleted."""
    await (await opened(folder)).close()
    (folder / aliases.ALIASES_FILE).write_text("{")
    with pytest.raises(StorageFailed, match="cannot be read"):
        await EdgeStore.open(folder)
    (folder / aliases.ALIASES_FILE).unlink()
    store = await EdgeStore.open(folder)
    assert await store.count(NAME) == 4
    await store.close()


def rebuilt_until_killed(folder: Path, rng: random.Random) -> None:
    """Let one rebuild pass, and kill the process somewhere in the next."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.vectors.crash_swapper", str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    began = time.monotonic()
    assert process.stdout.readline() == "swapped\n"
    time.sleep(rng.uniform(0, time.monotonic() - began))
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
async def test_killing_it_at_any_moment_leaves_a_whole_collection(folder: Path) -> None:
    rng = random.Random(3)
    for _ in range(KILLS):
        await asyncio.to_thread(rebuilt_until_killed, folder, rng)
        store = await EdgeStore.open(folder)
        assert await store.count(NAME) == 4
        assert [info.name for info in await store.list_collections()] == [NAME]
        assert len(folders(folder)) == 1
        await store.close()
