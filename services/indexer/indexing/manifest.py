"""What is indexed: one row a file, in SQLite, written after the vectors are."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from services.core import sqlite
from services.core.batches import batches
from services.core.errors import StorageFailed
from services.core.vectors.generations import is_generation

T = TypeVar("T")

PATHS_A_STATEMENT = 500  # below SQLite's limit on the variables of one statement
WRITING, DONE = "writing", "done"
COLUMNS = "path, blob, size, modified, chunks, language, scheme, status"

SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    store TEXT NOT NULL,
    collection TEXT NOT NULL,
    repo TEXT NOT NULL,
    path TEXT NOT NULL,
    blob TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified REAL NOT NULL,
    chunks INTEGER NOT NULL,
    language TEXT NOT NULL,
    scheme INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('writing', 'done')),
    PRIMARY KEY (store, collection, repo, path)
) WITHOUT ROWID
"""
OWNERS = """
CREATE TABLE IF NOT EXISTS owners (
    store TEXT NOT NULL,
    collection TEXT NOT NULL,
    repo TEXT NOT NULL,
    identity TEXT NOT NULL,
    PRIMARY KEY (store, collection, repo)
) WITHOUT ROWID
"""
IS_SHELF = "store = ? AND collection = ? AND repo = ?"


@dataclass(frozen=True)
class RepoKey:
    """Where the files of a repo stand: the Qdrant, the collection in it, the repo's name.

    The Qdrant counts: what is in the embedded one says nothing about a server's.
    """

    store: str
    collection: str
    repo: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.store, self.collection, self.repo


@dataclass(frozen=True)
class ManifestRow:
    """A file as it was indexed. `writing`: its points may be there in part, or not at all."""

    path: str
    blob: str
    size: int
    modified: float
    chunks: int
    language: str
    scheme: int
    status: str = DONE

    @property
    def done(self) -> bool:
        return self.status == DONE


class Manifest:
    """The table of indexed files. Opened by the first call; every call runs off the event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    async def rows(self, shelf: RepoKey) -> dict[str, ManifestRow]:
        """Every file of a repo, by path."""
        query = f"SELECT {COLUMNS} FROM files WHERE {IS_SHELF}"
        found = await self._run(lambda db: db.execute(query, shelf.key).fetchall())
        return {row[0]: ManifestRow(*row) for row in found}

    async def repos(self, store: str, collection: str) -> set[str]:
        """The repos that share a collection."""
        query = "SELECT DISTINCT repo FROM files WHERE store = ? AND collection = ?"
        found = await self._run(lambda db: db.execute(query, (store, collection)).fetchall())
        return {row[0] for row in found}

    async def owner(self, shelf: RepoKey, identity: str) -> str:
        """Whose name this is: the first to ask for it, and it keeps it."""

        def claim(db: sqlite3.Connection) -> str:
            db.execute("INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?)", (*shelf.key, identity))
            query = f"SELECT identity FROM owners WHERE {IS_SHELF}"
            return str(db.execute(query, shelf.key).fetchone()[0])

        return await self._run(claim)

    async def put(self, shelf: RepoKey, rows: Iterable[ManifestRow]) -> None:
        """Record these rows in one transaction."""
        marks = ", ".join("?" * (len(shelf.key) + len(ManifestRow.__dataclass_fields__)))
        statement = (
            f"INSERT OR REPLACE INTO files (store, collection, repo, {COLUMNS}) VALUES ({marks})"
        )
        values = [(*shelf.key, *vars(row).values()) for row in rows]
        await self._change(lambda db: db.executemany(statement, values))

    async def mark_dirty(self, shelf: RepoKey, paths: Sequence[str]) -> None:
        """Say of these paths that their points may be there or not."""
        change = f"UPDATE files SET status = '{WRITING}' WHERE {IS_SHELF} AND path IN "
        await self._on_paths(change, shelf, paths)

    async def forget(self, shelf: RepoKey, paths: Sequence[str]) -> None:
        """Drop the rows of these paths."""
        await self._on_paths(f"DELETE FROM files WHERE {IS_SHELF} AND path IN ", shelf, paths)

    async def _on_paths(self, statement: str, shelf: RepoKey, paths: Sequence[str]) -> None:
        """In one transaction, however many they are."""

        def change(db: sqlite3.Connection) -> None:
            for batch in batches(paths, PATHS_A_STATEMENT):
                marks = ",".join("?" * len(batch))
                db.execute(f"{statement} ({marks})", (*shelf.key, *batch))

        await self._run(change)

    async def forget_repo(self, shelf: RepoKey) -> None:
        """Drop every row of the repo; its name stays its own."""
        await self._change(lambda db: db.execute(f"DELETE FROM files WHERE {IS_SHELF}", shelf.key))

    async def promote(self, shelf: RepoKey, built: str) -> None:
        """The rows that were written for a new collection stand in the place of the old ones."""

        def change(db: sqlite3.Connection) -> None:
            db.execute(f"DELETE FROM files WHERE {IS_SHELF}", shelf.key)
            moved = f"UPDATE files SET collection = ? WHERE {IS_SHELF}"
            db.execute(moved, (shelf.collection, shelf.store, built, shelf.repo))

        await self._run(change)

    async def forget_builds(self, store: str, collection: str) -> None:
        """Drop the rows of collections that were built for this name and never took it."""

        def change(db: sqlite3.Connection) -> None:
            query = "SELECT DISTINCT collection FROM files WHERE store = ?"
            for [name] in db.execute(query, (store,)).fetchall():
                if is_generation(name, collection):
                    gone = "DELETE FROM files WHERE store = ? AND collection = ?"
                    db.execute(gone, (store, name))

        await self._run(change)

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    async def _change(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """The cursor must end here: one that outlived the lock would reset, from another thread,
        the statement that the next transaction is executing."""

        def change(db: sqlite3.Connection) -> None:
            work(db)

        await self._run(change)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """One transaction in a thread; SQLite's errors become ours here and nowhere else."""

        def locked() -> T:
            with self._lock:
                self._db = self._db or _open(self._path)
                with self._db:
                    return work(self._db)

        try:
            return await asyncio.to_thread(locked)
        except (sqlite3.Error, OSError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> StorageFailed:
        return StorageFailed(
            f"The index state {self._path} cannot be used: {error}. It is derived: with the "
            "servers stopped it may be deleted, and the next index run builds it again."
        )


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return sqlite.connect(path, _lay_out)


def _lay_out(db: sqlite3.Connection) -> None:
    db.execute(SCHEMA)
    db.execute(OWNERS)
