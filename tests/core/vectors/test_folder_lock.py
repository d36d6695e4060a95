"""A folder has one owner at a time, which errors name."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ctx_core.errors import FolderInUse, StorageFailed
from ctx_core.vectors.folder_lock import LOCK_FILE, OWNER_FILE, folder_owner, lock_folder

HOLD = """
import sys
from pathlib import Path
from ctx_core.vectors.folder_lock import lock_folder
held = lock_folder(Path(sys.argv[1]))
print("owned", flush=True)
sys.stdin.read()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "owned\n"
    return process


def test_the_owner_is_known_until_it_releases(folder: Path) -> None:
    assert folder_owner(folder) is None
    assert not folder.exists()
    held = lock_folder(folder)
    owner = folder_owner(folder)
    assert owner is not None
    assert owner.pid == os.getpid()
    assert owner.command.startswith(shlex.join(sys.orig_argv[:3]))
    held.release()
    assert folder_owner(folder) is None
    lock_folder(folder).release()


def test_releasing_twice_does_not_take_it_from_the_next(folder: Path) -> None:
    first = lock_folder(folder)
    first.release()
    second = lock_folder(folder)
    first.release()
    assert folder_owner(folder) is not None
    second.release()


def test_another_process_is_named_and_forgotten_when_killed(folder: Path) -> None:
    process = holder(folder)
    owner = folder_owner(folder)
    assert owner is not None
    assert owner.pid == process.pid
    with pytest.raises(FolderInUse, match=f"process {process.pid} .*since 20"):
        lock_folder(folder)
    process.kill()
    process.communicate()
    assert (folder / OWNER_FILE).exists(), "a kill leaves the note behind"
    assert folder_owner(folder) is None
    held = lock_folder(folder)
    assert json.loads((folder / OWNER_FILE).read_text())["pid"] == os.getpid()
    held.release()


def test_an_owner_file_that_cannot_be_read_is_no_obstacle(folder: Path) -> None:
    held = lock_folder(folder)
    (folder / OWNER_FILE).write_text("{half")
    with pytest.raises(FolderInUse, match=str(folder)):
        lock_folder(folder)
    held.release()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed, match="CTX_DATA_DIR"):
        lock_folder(tmp_path / "file" / "data")


def test_asking_for_the_owner_creates_no_files(folder: Path) -> None:
    folder.mkdir()
    assert folder_owner(folder) is None
    assert not (folder / LOCK_FILE).exists()
