"""Standard streams that are closed, full, or whose reader has left."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctx.exit_code import Exit
from tests.support.processes import COMMAND_SECONDS, ROOT, environment, run_ctx

CALLS = ("status", "status --json", "settings show", "--help", "search --help", "--version")
REFUSED = "Standard output cannot be written: No space left on device"


def run_into(
    output: int, folder: Path, *words: str, **changed: str
) -> "subprocess.CompletedProcess[str]":
    """Run `ctx` with a descriptor as its standard output."""
    return subprocess.run(
        [sys.executable, "-m", "ctx", *words],
        cwd=ROOT,
        env=environment(folder / "data", HOME=str(folder), **changed),
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )


@pytest.fixture
def left() -> int:
    """A pipe whose reader has left."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.fixture
def full() -> int:
    """A disk that is full."""
    return os.open("/dev/full", os.O_WRONLY)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("call", CALLS)
def test_a_reader_that_leaves_early_ends_the_command(
    tmp_path: Path, left: int, call: str, unbuffered: str
) -> None:
    done = run_into(left, tmp_path, *call.split(), PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (Exit.READER_LEFT, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("call", CALLS)
def test_a_full_disk_is_one_error(tmp_path: Path, full: int, call: str, unbuffered: str) -> None:
    done = run_into(full, tmp_path, *call.split(), PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == Exit.FAILED
    [line] = done.stderr.splitlines()
    said = json.loads(line)["error"] if "--json" in call else line.removeprefix("ctx: ")
    assert said.startswith(REFUSED)


def test_what_follows_files_ends_with_its_reader(tmp_path: Path, left: int) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "alpha.py").write_text("def alpha() -> None: ...\n")
    done = run_into(left, tmp_path, "watch", str(code))
    assert done.returncode == Exit.READER_LEFT
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_streams_are_closed_ends_as_it_would(tmp_path: Path, closed: str) -> None:
    env = environment(tmp_path / "data", HOME=str(tmp_path))
    for call in ("settings show", "version --json", "recall --nope"):
        line = f'"{sys.executable}" -m ctx {call} {closed}'
        done = subprocess.run(
            ["bash", "-c", line], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        usual = run_ctx(env, *call.split())
        assert done.returncode == usual.returncode
        assert done.stdout == ""
        assert done.stderr == ("" if "2>&-" in closed else usual.stderr)
