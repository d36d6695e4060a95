"""Who owns a data folder: at most one process at a time."""

import json
import os
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import shorten

from filelock import FileLock, Timeout

from services.core.clock import to_iso, utc_now
from services.core.errors import FolderInUse, StorageFailed
from services.core.files import replace_file

LOCK_FILE = "owner.lock"
# Beside the lock, not in it: Windows lets nobody read a locked file.
OWNER_FILE = "owner.json"

# Enough of a command line to know it again, on one line.
COMMAND_WIDTH = 200

# `who_owns` holds the lock for a moment to see whether it is free; whoever comes just then waits.
PATIENCE_SECONDS = 0.5
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Owner:
    """The process that owns a folder."""

    pid: int
    command: str
    since: str


class Ownership:
    """The lock of this process on a folder, until released. The system frees it if we die."""

    def __init__(self, lock: FileLock, note: Path) -> None:
        self._lock = lock
        self._note = note

    def release(self) -> None:
        if self._lock.is_locked:
            self._note.unlink(missing_ok=True)
            self._lock.release()


def own(folder: Path) -> Ownership:
    """Take the folder, or raise FolderInUse naming the process that has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK_FILE)
        lock.acquire(timeout=PATIENCE_SECONDS, poll_interval=POLL_SECONDS)
    except Timeout:
        raise _in_use(folder) from None
    except OSError as error:
        raise StorageFailed(
            f"the data folder {folder} cannot be used: {error}; make it writable or choose "
            "another with CTX_DATA_DIR",
            folder=str(folder),
        ) from error
    note = folder / OWNER_FILE
    replace_file(note, json.dumps(asdict(_this_process())))
    return Ownership(lock, note)


def who_owns(folder: Path) -> Owner | None:
    """The owner, None when nobody owns the folder. A note left by a dead owner is not believed."""
    if not (folder / LOCK_FILE).exists():
        return None
    lock = FileLock(folder / LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return _read(folder / OWNER_FILE)
    except OSError:
        return None
    lock.release()
    return None


def _in_use(folder: Path) -> FolderInUse:
    owner = _read(folder / OWNER_FILE)
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


def _read(note: Path) -> Owner:
    """The note of whoever holds the lock; for an instant after locking it is not there yet."""
    try:
        return Owner(**json.loads(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Owner(pid=0, command="unknown", since="just now")
