"""SQLite files that several processes use at once."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

BUSY_TIMEOUT_SECONDS = 10.0  # another process may be writing the same file
LOOK_AGAIN_SECONDS = 0.002


def connect(path: Path, lay_out: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """With the tables that `lay_out` makes where they are not there. For what can be computed
    again: a power cut may undo the last writes."""
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False)
    try:
        write_ahead(db.execute)
        db.execute("PRAGMA synchronous=NORMAL")
        with db:
            lay_out(db)
    except sqlite3.Error:
        db.close()
        raise
    return db


def write_ahead(execute: Callable[[str], object]) -> None:
    """Let readers and a writer work side by side, for as long as the file exists.

    Of two processes that ask this of a new file at once, SQLite tells one at once that the file
    is locked, whatever its busy timeout.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(LOOK_AGAIN_SECONDS)
