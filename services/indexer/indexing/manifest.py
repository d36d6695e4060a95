"""The manifest of indexed files: one row per file, in SQLite, written after its points."""

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from services.core import sqlite
from services.core.batches import batches
from services.core.blocking import DISK
from services.core.errors import StorageFailed
from services.core.vectors.generations import is_generation

T = TypeVar("T")

PATHS_PER_STATEMENT = 500  # below SQLite's limit on the variables of one statement
WRITING, DONE = "writing", "done"
COLUMNS = "path, blob, size, modified, chunks, language, index_version, status"

FILES = """
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
    index_version INTEGER NOT NULL,
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
CHECKOUTS = """
CREATE TABLE IF NOT EXISTS checkouts (
    store TEXT NOT NULL,
    collection TEXT NOT NULL,
    repo TEXT NOT NULL,
    root TEXT NOT NULL,
    PRIMARY KEY (store, collection, repo)
) WITHOUT ROWID
"""
OF_REPO = "store = ? AND collection = ? AND repo = ?"


@dataclass(frozen=True)
class RepoKey:
    """The key of a repo's rows: its Qdrant, its collection there, and its name."""

    store: str
    collection: str
    repo: str

    @property
    def columns(self) -> tuple[str, str, str]:
        return self.store, self.collection, self.repo


@dataclass(frozen=True)
class ManifestRow:
    """A file as it was indexed. While `status` is `writing`, its points may be incomplete."""

    path: str
    blob: str
    size: int
    modified: float
    chunks: int
    language: str
    index_version: int
    status: str = DONE

    @property
    def done(self) -> bool:
        return self.status == DONE


class Manifest:
    """The table of indexed files. Each method runs off the event loop; the first opens the file.

    All raise StorageFailed where the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    async def rows(self, key: RepoKey) -> dict[str, ManifestRow]:
        """Return the rows of a repo by path."""
        query = f"SELECT {COLUMNS} FROM files WHERE {OF_REPO}"
        rows = await self._run(lambda db: db.execute(query, key.columns).fetchall())
        return {row[0]: ManifestRow(*row) for row in rows}

    async def rows_at(self, key: RepoKey, paths: Collection[str]) -> dict[str, ManifestRow]:
        """Return the rows of these files, and of all files in these folders."""
        query = (
            f"SELECT {COLUMNS} FROM files WHERE {OF_REPO} AND (path = ? OR path >= ? AND path < ?)"
        )

        def read(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            # A path inside a folder begins with its name and a slash; "0" follows the slash.
            spans = [(path, f"{path}/", f"{path}0") for path in paths]
            return [row for span in spans for row in db.execute(query, (*key.columns, *span))]

        return {row[0]: ManifestRow(*row) for row in await self._run(read)}

    async def totals(self, key: RepoKey) -> tuple[int, int]:
        """Return how many files a repo has, and their size together."""
        query = f"SELECT count(*), coalesce(sum(size), 0) FROM files WHERE {OF_REPO}"
        files, size = await self._run(lambda db: db.execute(query, key.columns).fetchone())
        return files, size

    async def repos(self, store: str, collection: str) -> set[str]:
        """Return the repos of a collection."""
        query = "SELECT DISTINCT repo FROM files WHERE store = ? AND collection = ?"
        rows = await self._run(lambda db: db.execute(query, (store, collection)).fetchall())
        return {row[0] for row in rows}

    async def counts(self, store: str) -> dict[tuple[str, str], tuple[int, int]]:
        """Return how many files and chunks each repo of each collection has."""
        query = (
            "SELECT collection, repo, count(*), sum(chunks) FROM files WHERE store = ? "
            "GROUP BY collection, repo"
        )
        rows = await self._run(lambda db: db.execute(query, (store,)).fetchall())
        return {(collection, repo): (files, chunks) for collection, repo, files, chunks in rows}

    async def claim_name(self, key: RepoKey, identity: str) -> str:
        """Claim a repo's name for an identity; returns the identity that claimed it first."""

        def claim(db: sqlite3.Connection) -> str:
            db.execute("INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?)", (*key.columns, identity))
            query = f"SELECT identity FROM owners WHERE {OF_REPO}"
            return str(db.execute(query, key.columns).fetchone()[0])

        return await self._run(claim)

    async def record_checkout(self, key: RepoKey, root: Path) -> None:
        """Record the folder that a repo is indexed from."""
        statement = "INSERT OR REPLACE INTO checkouts VALUES (?, ?, ?, ?)"
        await self._change(lambda db: db.execute(statement, (*key.columns, str(root))))

    async def checkouts(self, store: str, collection: str) -> dict[str, Path]:
        """Return the folder of each repo of a collection."""
        query = "SELECT repo, root FROM checkouts WHERE store = ? AND collection = ? ORDER BY repo"
        rows = await self._run(lambda db: db.execute(query, (store, collection)).fetchall())
        return {repo: Path(root) for repo, root in rows}

    async def put(self, key: RepoKey, rows: Iterable[ManifestRow]) -> None:
        """Record rows in one transaction."""
        marks = ", ".join("?" * (len(key.columns) + len(ManifestRow.__dataclass_fields__)))
        statement = (
            f"INSERT OR REPLACE INTO files (store, collection, repo, {COLUMNS}) VALUES ({marks})"
        )
        values = [(*key.columns, *vars(row).values()) for row in rows]
        await self._change(lambda db: db.executemany(statement, values))

    async def mark_dirty(self, key: RepoKey, paths: Sequence[str]) -> None:
        """Record that the points of these paths may be incomplete."""
        change = f"UPDATE files SET status = '{WRITING}' WHERE {OF_REPO} AND path IN "
        await self._on_paths(change, key, paths)

    async def remove(self, key: RepoKey, paths: Sequence[str]) -> None:
        """Delete the rows of these paths."""
        await self._on_paths(f"DELETE FROM files WHERE {OF_REPO} AND path IN ", key, paths)

    async def remove_repo(self, key: RepoKey) -> None:
        """Delete every row of a repo, and free its name."""

        def change(db: sqlite3.Connection) -> None:
            for table in ("files", "owners", "checkouts"):
                db.execute(f"DELETE FROM {table} WHERE {OF_REPO}", key.columns)

        await self._run(change)

    async def _on_paths(self, statement: str, key: RepoKey, paths: Sequence[str]) -> None:
        """Execute a statement for paths in one transaction, however many they are."""

        def change(db: sqlite3.Connection) -> None:
            for batch in batches(paths, PATHS_PER_STATEMENT):
                marks = ",".join("?" * len(batch))
                db.execute(f"{statement} ({marks})", (*key.columns, *batch))

        await self._run(change)

    async def promote(self, key: RepoKey, built: str) -> None:
        """Replace the rows of a repo by those written for the collection built in its place."""

        def change(db: sqlite3.Connection) -> None:
            db.execute(f"DELETE FROM files WHERE {OF_REPO}", key.columns)
            moved = f"UPDATE files SET collection = ? WHERE {OF_REPO}"
            db.execute(moved, (key.collection, key.store, built, key.repo))

        await self._run(change)

    async def remove_builds(self, store: str, collection: str) -> None:
        """Delete the rows of collections built for this name that were never swapped in."""

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
        """Run work without a result. Its cursor must not outlive the lock: from another thread it
        would reset the statement of the next transaction."""

        def change(db: sqlite3.Connection) -> None:
            work(db)

        await self._run(change)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run one transaction in a thread, and turn SQLite's errors into StorageFailed."""

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


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return sqlite.connect(path, _create_tables)


def _create_tables(db: sqlite3.Connection) -> None:
    """Create the tables; a file of before INDEX_VERSION 4 calls a column by another name."""
    db.execute("BEGIN IMMEDIATE")  # another process may be doing the same
    db.execute(FILES)
    db.execute(OWNERS)
    db.execute(CHECKOUTS)
    columns = {row[1] for row in db.execute("PRAGMA table_info(files)")}
    if "index_version" not in columns:
        db.execute("ALTER TABLE files RENAME COLUMN scheme TO index_version")
