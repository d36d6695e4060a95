"""Lock a data folder: at most one process at a time uses it."""

import json
import os
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import shorten

from filelock import FileLock, Timeout

from ctx_core.clock import to_iso, utc_now
from ctx_core.errors import FolderInUse, StorageFailed
from ctx_core.files import replace_file

LOCK_FILE = "owner.lock"
# Beside the lock, not in it: on Windows a locked file cannot be read.
OWNER_FILE = "owner.json"

# Enough of a command line to recognise it, on one line.
COMMAND_WIDTH = 200

# `folder_owner` takes the lock for a moment to test it; `lock_folder` waits that long.
WAIT_SECONDS = 0.5
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Owner:
    """The process that has locked a folder."""

    pid: int
    command: str
    since: str


class FolderLock:
    """The lock of this process on a folder. The system frees it if the process dies."""

    def __init__(self, lock: FileLock, owner_file: Path) -> None:
        self._lock = lock
        self._owner_file = owner_file

    def release(self) -> None:
        if self._lock.is_locked:
            self._owner_file.unlink(missing_ok=True)
            self._lock.release()


def lock_folder(folder: Path) -> FolderLock:
    """Lock the folder, and create it where it is missing. Blocks for at most WAIT_SECONDS.

    Raises FolderInUse, which names the process that has it, or StorageFailed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK_FILE)
        lock.acquire(timeout=WAIT_SECONDS, poll_interval=POLL_SECONDS)
    except Timeout:
        raise _in_use(folder) from None
    except OSError as error:
        raise StorageFailed(
            f"the data folder {folder} cannot be used: {error}; make it writable or choose "
            "another with CTX_DATA_DIR",
            folder=str(folder),
        ) from error
    owner_file = folder / OWNER_FILE
    replace_file(owner_file, json.dumps(asdict(_this_process())))
    return FolderLock(lock, owner_file)


def folder_owner(folder: Path) -> Owner | None:
    """Return the process that has locked the folder, by the lock and not by the file; else None."""
    if not (folder / LOCK_FILE).exists():
        return None
    lock = FileLock(folder / LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return _read_owner(folder / OWNER_FILE)
    except OSError:
        return None
    lock.release()
    return None


def _in_use(folder: Path) -> FolderInUse:
    owner = _read_owner(folder / OWNER_FILE)
    return FolderInUse(
        f"the data folder {folder} is in use by process {owner.pid} ({owner.command}), "
        f"since {owner.since}. Use the servers that it runs, or stop it, or choose another "
        "folder with CTX_DATA_DIR, or share one Qdrant between processes with QDRANT_URL",
        folder=str(folder),
        **asdict(owner),
    )


def _this_process() -> Owner:
    return Owner(
        pid=os.getpid(),
        command=shorten(shlex.join(sys.orig_argv), COMMAND_WIDTH, placeholder=" …"),
        since=to_iso(utc_now(), "seconds"),
    )


def _read_owner(file: Path) -> Owner:
    """Read who holds the lock; unknown in the instant between locking and writing the file."""
    try:
        return Owner(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Owner(pid=0, command="unknown", since="just now")
