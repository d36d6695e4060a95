"""A disk without room: writing stops with an error that names the folder, reading goes on."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctx_core.errors import StorageFailed
from ctx_core.vectors.edge.free_space import FreeSpace
from ctx_core.vectors.edge.store import EdgeStore
from ctx_core.vectors.queries import Filter, HasId
from tests.support.vectors.samples import POINTS, SPEC, uid

ROOT = Path(__file__).parents[4]
DISK_MB = 200
NAME = "notes"
EVERYTHING = 2**60  # bytes that no disk has free


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, where this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount a file system; the other tests lower the limit instead")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_without_room_writing_stops_reading_goes_on_and_room_heals(folder: Path) -> None:
    store = await EdgeStore.open(folder)
    await store.ensure_collection(NAME, SPEC)
    await store.upsert(NAME, POINTS)
    enough = store._free_space
    store._free_space = FreeSpace(folder, EVERYTHING)
    refused = [
        store.upsert(NAME, POINTS),
        store.delete(NAME, Filter(must=[HasId([uid(1)])])),
        store.ensure_collection("another", SPEC),
        store.build(NAME, SPEC),
        store.ping(),
    ]
    for call in refused:
        with pytest.raises(StorageFailed, match=f"{folder} has .* MB free") as raised:
            await call
        assert raised.value.details["folder"] == str(folder)
    await store.ensure_collection(NAME, SPEC)  # there is nothing to write
    assert await store.count(NAME) == len(POINTS)
    assert len(await store.retrieve(NAME, [uid(1)])) == 1

    store._free_space = enough
    await store.ping()
    await store.upsert(NAME, POINTS)
    await store.close()


async def test_a_store_is_not_opened_where_that_could_kill_the_process(folder: Path) -> None:
    with pytest.raises(StorageFailed, match=f"{folder} has .* needed to open"):
        await EdgeStore.open(folder, EVERYTHING)
    store = await EdgeStore.open(folder)  # the lock was released
    await store.close()


def test_a_full_disk_does_not_kill_the_process(small_disk: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.vectors.disk_filler", str(small_disk)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    report = json.loads(done.stdout)
    assert report["written"] > 1000
    assert str(small_disk) in report["refusal"]
    assert report["read"] == [report["written"], report["written"]]
    assert "MB free" in report["ready"]
    assert report["healed"] is None
    assert report["kept"] >= report["written"]
