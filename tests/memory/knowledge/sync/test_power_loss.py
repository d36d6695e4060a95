"""A machine that loses power right after a push: git has all of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctx_core.files import replace_file
from scripts.bench.faults.disk import Disk, open_disk
from scripts.bench.faults.projects import inspect_git
from scripts.bench.fixtures.clones import clone_at, identify, open_clones
from scripts.bench.fixtures.repositories import Repository

DISK_MB = 16


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    opened = open_disk(tmp_path / "disk", DISK_MB)
    yield opened
    opened.close()


async def test_what_was_pushed_survives_a_loss_of_power(disk: Disk, tmp_path: Path) -> None:
    if not disk.is_real:
        pytest.skip("losing power needs a file system that this user may mount")
    root = disk.folder / "clone"
    async with open_clones(tmp_path) as clones:
        first = Repository.create(root)
        first.write("code.py", "print(1)\n")
        first.commit("first")
        identify(root)
        disk.sync()
        clone = clone_at(root, clones.records)
        await clone.put("arch", "# Architecture\n")
        assert (await clone.push())["status"] == "committed"
        # Any sync on the disk makes the names of new files durable, whatever they hold.
        replace_file(disk.folder / "other", "")
        commit = clone.git("rev-parse", "HEAD")
    disk.cut()
    disk.restore()
    assert inspect_git(root) == []
    assert Repository(root).git("rev-parse", "HEAD") == commit
    assert Repository(root).git("show", "HEAD:.context-teleport/knowledge/arch.md")
