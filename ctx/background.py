"""The process of `ctx up`: how it is known, started in the background, and stopped."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ctx.servers import SERVICES, is_running
from ctx_core.environment.child_environment import child_environment
from ctx_core.environment.connection import Connection
from ctx_core.errors import StorageFailed
from ctx_core.vectors.folder_lock import FolderLock, Owner, folder_owner, lock_folder

RUN_FOLDER, LOG_FOLDER, LOG_FILE = "run", "logs", "ctx.log"
MAX_LOG_BYTES = 10_000_000  # a larger log is set aside at the next start; one older one is kept
TAIL_BYTES = 256 * 1024  # the most that is read of the end of a log
SHOWN_LINES = 10  # of the log of a start that failed
START_SECONDS = 120.0  # a large database is migrated at a start
STOP_SECONDS = 30.0  # above the grace that running calls have
POLL_SECONDS = 0.1


def lock_run(connection: Connection) -> FolderLock:
    """Note that this process serves the ports of a connection. Blocks. Raises FolderInUse."""
    return lock_folder(_run_folder(connection))


def run_owner(connection: Connection) -> Owner | None:
    """Return the process of `ctx up` that serves the ports of a connection. Blocks."""
    return folder_owner(_run_folder(connection))


def _run_folder(connection: Connection) -> Path:
    """Return a folder for the port: processes with several ports may share a data folder."""
    return connection.data_dir / RUN_FOLDER / str(connection.ports["indexer"])


def log_path(data_dir: Path) -> Path:
    """Return the log of the servers in the background."""
    return data_dir / LOG_FOLDER / LOG_FILE


def command_line(*arguments: str) -> list[str]:
    """Return the words that start `ctx` anywhere: by its file, whatever else is named `ctx` there.

    `"up", "--json" → /venv/bin/python /…/ctx/__main__.py up --json`
    """
    return [sys.executable, str(Path(__file__).with_name("__main__.py")), *arguments]


def start(
    arguments: Sequence[str], data_dir: Path, folder: Path | None = None
) -> "subprocess.Popen[bytes]":
    """Start `ctx` with these arguments, here or in a folder, to outlive this process."""
    file = log_path(data_dir)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > MAX_LOG_BYTES:
            file.replace(file.with_suffix(".log.1"))
        with file.open("ab") as log:
            return subprocess.Popen(
                command_line(*arguments),
                env=child_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=folder,
            )
    except OSError as error:
        raise StorageFailed(f"the log {file} cannot be written: {error}") from error


async def wait_until_running(connection: Connection, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until both servers answer, or the process ends; False where it takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if all([await is_running(connection, service) for service in SERVICES]):
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


def failed_start(process: "subprocess.Popen[bytes]", data_dir: Path) -> StorageFailed:
    """Return the error of a process that ended, with the end of its log."""
    last = "\n".join(f"  {line}" for line in last_lines(log_path(data_dir), SHOWN_LINES))
    return StorageFailed(
        f"The servers did not start (exit code {process.returncode}). The log "
        f"{log_path(data_dir)} ends with:\n{last}"
    )


def stop(connection: Connection, owner: Owner) -> None:
    """Ask a process to stop, and wait until it has. Raises StorageFailed where it does not."""
    try:
        os.kill(owner.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise StorageFailed(
            f"process {owner.pid} ({owner.command}) belongs to another user, who can stop it"
        ) from error
    deadline = time.monotonic() + STOP_SECONDS
    while run_owner(connection) == owner:
        if time.monotonic() > deadline:
            raise StorageFailed(
                f"process {owner.pid} has not stopped after {STOP_SECONDS:g} s. See what it does "
                f"with `ctx logs`, or end it: kill -9 {owner.pid}"
            )
        time.sleep(POLL_SECONDS)


def last_lines(file: Path, count: int) -> list[str]:
    """Return the last lines of a file; none where it does not exist. Blocks."""
    try:
        with file.open("rb") as opened:
            opened.seek(max(0, opened.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = opened.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return lines[-count:] if count else []
