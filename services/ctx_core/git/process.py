"""Processes of git: each has a deadline, and none outlives ours."""

import atexit
import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from ctx_core.errors import GitFailed, GitLocked, GitTimedOut
from ctx_core.git.complaint import lock, reason
from ctx_core.git.configuration import REMOTE_COMMANDS

LOCKED = (
    "{} is in the way: another git works in this repository, or one crashed and left it. "
    "If no git is running, delete that file, then call again; nothing is lost."
)

Pipe = int | IO[bytes]

_running: set[subprocess.Popen[bytes]] = set()
_running_lock = threading.Lock()


def stop_all() -> None:
    """Kill every git that is still running, at the end of the process."""
    with _running_lock:
        for process in _running:
            _kill(process)


atexit.register(stop_all)


def start(
    arguments: Sequence[str], name: str, environment: Mapping[str, str], stdin: bytes, limit: float
) -> bytes:
    """Run git and return its output, or raise GitFailed, GitLocked or GitTimedOut. Blocks."""
    process = _opened(arguments, environment, subprocess.PIPE, subprocess.PIPE)
    with _tracked(process):
        try:
            printed, complaint = process.communicate(stdin, timeout=limit)
        except subprocess.TimeoutExpired:
            raise _timed_out(name, limit) from None
    if process.returncode:
        raise _failed(name, complaint, process.returncode)
    return printed


def _failed(name: str, complaint: bytes, exit_code: int) -> GitFailed:
    """Return the error of a command. A lock that a push or a fetch names may be the remote's."""
    if name not in REMOTE_COMMANDS and (left := lock(complaint)):
        return GitLocked(LOCKED.format(left), command=name, exit_code=exit_code)
    said = f"git {name} failed: {reason(complaint)}"
    return GitFailed(said, command=name, exit_code=exit_code)


def _timed_out(name: str, limit: float) -> GitTimedOut:
    return GitTimedOut(f"git {name} did not end within {limit:g} s and was stopped.", command=name)


def _opened(
    arguments: Sequence[str], environment: Mapping[str, str], stdin: Pipe, stderr: Pipe
) -> subprocess.Popen[bytes]:
    """Start git in a group of its own, so that the processes that it starts end with it."""
    try:
        return subprocess.Popen(
            ["git", *arguments],
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}. Install git.") from error


def start_bounded(
    arguments: Sequence[str],
    name: str,
    environment: Mapping[str, str],
    stdin: bytes,
    limit: float,
    max_bytes: int,
) -> bytes:
    """Run git as `start` does, reading no more than `max_bytes`; `stdin` is a file for it."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(stdin)
        given.seek(0)
        process = _opened(arguments, environment, given, complaints)
        timer = threading.Timer(limit, _kill, [process])
        timer.start()
        try:
            assert process.stdout is not None
            with process.stdout as pipe, _tracked(process):
                printed = pipe.read(max_bytes + 1)
                if len(printed) > max_bytes:
                    raise GitFailed(f"git {name} printed more than {max_bytes} bytes.")
                process.wait()
        finally:
            expired = not timer.is_alive()
            timer.cancel()
        if process.returncode:
            if expired:
                raise _timed_out(name, limit)
            complaints.seek(0)
            raise _failed(name, complaints.read(), process.returncode)
        return printed


@contextlib.contextmanager
def _tracked(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave no git running after a block, however it ends."""
    with _running_lock:
        _running.add(process)
    try:
        yield
    finally:
        with _running_lock:
            _running.discard(process)
        if process.poll() is None:
            _kill(process)
        with contextlib.suppress(OSError):
            process.__exit__(None, None, None)  # close its pipes, wait for its end


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
