"""The run of this server: ephemeral entries end with it, also when it is killed."""

import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from ctx_core.blocking import DISK
from ctx_memory.records.private import PrivateRecords

HOST_LENGTH = 24  # of the name; the rest tells runs apart


@contextlib.asynccontextmanager
async def open_run(records: PrivateRecords, folder: Path) -> AsyncIterator[str]:
    """Name a run. Deletes entries of dead runs of this machine first, and its own at the end.

    A run holds a lock file as long as it lives: the system lets go of it when the process dies.
    """
    run = f"{_host()}-{uuid4().hex[:16]}"
    lock = _lock(folder, run)
    try:
        known = await records.runs()
        ended = await DISK.run(lambda: [each for each in known if _ended(folder, each)])
        await records.end(ended)
        yield run
    finally:
        await records.end([run])
        lock.release()
        _path(folder, run).unlink(missing_ok=True)


def _host() -> str:
    return socket.gethostname()[:HOST_LENGTH]


def _lock(folder: Path, run: str) -> FileLock:
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(_path(folder, run), thread_local=False)
    lock.acquire(blocking=False)
    return lock


def _path(folder: Path, run: str) -> Path:
    return folder / f"{run}.lock"


def _ended(folder: Path, run: str) -> bool:
    """Whether a run of this machine is over; one of another machine ends its entries itself."""
    path = _path(folder, run)
    if not run.startswith(f"{_host()}-"):
        return False
    if not path.exists():
        return True
    try:
        with FileLock(path, blocking=False):
            path.unlink(missing_ok=True)
    except Timeout:
        return False
    return True
