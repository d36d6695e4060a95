"""An index run that is killed, again and again, while the files change.

`INDEX_KILLS=100` kills more often than the suite has time for.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import ROOT
from tests.support.repositories import Repository

KILLS = int(os.environ.get("INDEX_KILLS", "10"))
FILES = 120
FUNCTIONS = 30  # of a file: a handful of chunks
CHANGED_PER_ROUND = 90  # more than a thread would prepare: processes take part
LONGEST_RUN_SECONDS = 60.0
GONE_SECONDS = 10.0

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the processes of a killed run are found in /proc"
)


def source(rng: random.Random) -> str:
    return "\n".join(
        f"def name_{rng.randrange(10**6)}(value):\n    total = {rng.random()}\n"
        f"    return value + total  # {rng.randrange(10**6)}\n"
        for _ in range(rng.randrange(1, FUNCTIONS))
    )


def change(workspace: Path, rng: random.Random) -> None:
    """Files are added, changed and removed."""
    for number in rng.sample(range(FILES), CHANGED_PER_ROUND):
        file = workspace / f"m{number % 7}" / f"f{number}.py"
        if file.exists() and rng.random() < 0.2:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source(rng))


def start(data: Path, workspace: Path) -> "subprocess.Popen[str]":
    """In a process group of its own, and up to where it begins to index."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.index_runner", str(data), str(workspace)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until_indexing(process: "subprocess.Popen[str]") -> list[str]:
    assert process.stdout is not None
    said: list[str] = []
    for line in process.stdout:
        if line.strip() == "indexing":
            return said
        said += [line.strip()] if line.strip() else []
    raise AssertionError(f"ended early: {said}")


def group(leader: int) -> list[int]:
    """The processes that a run started and that still run."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found.append(int(folder.name))
    return found


def finished(data: Path, workspace: Path) -> tuple[str, float]:
    """What a run that is let be says, and how long it indexed."""
    process = start(data, workspace)
    said = until_indexing(process)
    began = time.monotonic()
    rest, _ = process.communicate(timeout=LONGEST_RUN_SECONDS)
    return "\n".join([*said, rest.strip()]), time.monotonic() - began


def test_killing_an_index_run_loses_nothing(tmp_path: Path) -> None:
    """Of two worktrees each keeps its own index, whichever run is killed."""
    rng = random.Random(7)
    data, workspace = tmp_path / "data", tmp_path / "workspace"
    repository = Repository.create(workspace)
    change(workspace, rng)
    repository.commit()
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"))
    folders = [workspace, tmp_path / "tree"]
    for folder in folders:
        change(folder, rng)
        said, seconds = finished(data, folder)
        assert said == "finished"
    unfinished = 0
    for _ in range(KILLS):
        folder = rng.choice(folders)
        change(folder, rng)
        process = start(data, folder)
        assert until_indexing(process) == []
        time.sleep(rng.uniform(0, seconds))
        if process.poll() is None:
            unfinished += 1
        else:
            seconds /= 2  # the machine is less busy than it was
        process.kill()
        process.communicate()
        deadline = time.monotonic() + GONE_SECONDS
        while left := group(process.pid):
            assert time.monotonic() < deadline, f"left behind: {left}"
            time.sleep(0.02)
    assert unfinished > KILLS // 3, "the runs ended before they were killed: nothing was tested"
    for folder in folders:
        assert finished(data, folder)[0] == "finished"
