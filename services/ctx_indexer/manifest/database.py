"""The SQLite file of the manifest: transactions off the event loop, one at a time."""

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ctx_core import sqlite
from ctx_core.batches import batches
from ctx_core.blocking import DISK
from ctx_core.errors import StorageFailed
from ctx_indexer.manifest.tables import create_tables

T = TypeVar("T")
Value = str | int | float
Row = tuple[Any, ...]  # as SQLite gives it

PATHS_PER_STATEMENT = 500  # below SQLite's limit on the variables of one statement


class Database:
    """A connection that is opened by the first transaction. All raise StorageFailed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run one transaction in a thread, and turn SQLite's errors into StorageFailed.

        A cursor must not outlive the lock: from another thread it would reset the statement of the
        next transaction.
        """

        def locked() -> T:
            with self._lock:
                self._db = self._db or _open(self.path)
                with self._db:
                    return work(self._db)

        try:
            return await DISK.run(locked)
        except (sqlite3.Error, OSError) as error:
            raise StorageFailed(
                f"The index state {self.path} cannot be used: {error}. It is derived: with the "
                "servers stopped it may be deleted, and the next index run builds it again."
            ) from error

    async def change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a transaction that reads before it writes: nobody else writes between."""

        def change(db: sqlite3.Connection) -> T:
            db.execute("BEGIN IMMEDIATE")
            return work(db)

        return await self.run(change)

    async def read(self, query: str, given: Sequence[Value]) -> list[Row]:
        """Return the rows of a query."""
        return await self.run(lambda db: db.execute(query, given).fetchall())

    async def read_paths(
        self, query: str, given: Sequence[Value], column: str, paths: Collection[str] | None
    ) -> list[Row]:
        """Return the rows of a query whose path is one of `paths`, or lies in one; None is all."""
        if paths is None or "" in paths:
            return await self.read(query, given)
        return await self.run(lambda db: list(_under(db, query, given, column, paths)))

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None


def rows_of_paths(
    db: sqlite3.Connection, query: str, given: Sequence[Value], paths: Sequence[str]
) -> Iterator[Row]:
    """Run a query that ends in a path's `IN` for exactly these paths, some at a time."""
    for batch in batches(paths, PATHS_PER_STATEMENT):
        marks = ",".join("?" * len(batch))
        yield from db.execute(f"{query} ({marks})", (*given, *batch))


def _under(
    db: sqlite3.Connection, query: str, given: Sequence[Value], column: str, paths: Collection[str]
) -> Iterator[Row]:
    """Read files and folders: `a` → `a` and `a/b.py`, neither `a0.py` nor `a.py`.

    A path inside a folder begins with its name and a slash; "0" follows the slash. Two statements:
    with an OR, SQLite reads every row for each path.
    """
    for path in paths:
        yield from db.execute(f"{query} AND {column} = ?", (*given, path))
        inside = (*given, f"{path}/", f"{path}0")
        yield from db.execute(f"{query} AND {column} >= ? AND {column} < ?", inside)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return sqlite.connect(path, lambda db: create_tables(db.execute))
