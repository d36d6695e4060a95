"""Open SQLite files that several processes use at once."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

BUSY_TIMEOUT_SECONDS = 10.0  # another process may be writing the same file
RETRY_SECONDS = 0.002


def connect(path: Path, create_tables: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """Open a file whose tables `create_tables` creates where they are missing.

    For data that can be computed again: a power cut may undo the last writes. Raises sqlite3.Error.
    """
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False)
    try:
        enable_wal(db.execute)
        db.execute("PRAGMA synchronous=NORMAL")
        with db:
            create_tables(db)
    except sqlite3.Error:
        db.close()
        raise
    return db


def enable_wal(execute: Callable[[str], object]) -> None:
    """Switch the file to a write-ahead log, so that a writer does not block readers.

    Of two processes that switch a new file at the same time, SQLite refuses one at once, whatever
    its busy timeout: this tries again for that time.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(RETRY_SECONDS)
