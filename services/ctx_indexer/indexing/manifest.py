"""The manifest: which file versions have points, and which checkout has which of them."""

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ctx_core import sqlite
from ctx_core.batches import batches
from ctx_core.blocking import DISK
from ctx_core.errors import StorageFailed
from ctx_core.vectors.generations import is_generation
from ctx_indexer.indexing import tables
from ctx_indexer.indexing.rows import CheckoutFile, FileVersion, ManifestRow, VersionRow
from ctx_indexer.indexing.tables import DONE, HELD, OF_REPO, REMOVING, WRITING

T = TypeVar("T")

PATHS_PER_STATEMENT = 500  # below SQLite's limit on the variables of one statement


@dataclass(frozen=True)
class RepoKey:
    """The key of a repo's versions: its Qdrant, its collection there, and its name."""

    store: str
    collection: str
    repo: str

    @property
    def columns(self) -> tuple[str, str, str]:
        return self.store, self.collection, self.repo


@dataclass(frozen=True)
class Checkout:
    """A folder that a repo is indexed from. `linked` is one that `git worktree add` made."""

    id: int
    key: RepoKey
    root: Path
    linked: bool = False

    @property
    def repo(self) -> str:
        return self.key.repo


class Manifest:
    """The tables of indexed files. Each method runs off the event loop; the first opens the file.

    All raise StorageFailed where the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    async def rows(
        self, checkout: Checkout, paths: Collection[str] | None = None
    ) -> dict[str, ManifestRow]:
        """Return the files of a checkout by path; `paths` are the files and folders wanted."""
        given = (checkout.id, *checkout.key.columns)
        rows = await self._run(lambda db: _select(db, tables.ROWS, given, "f.path", paths))
        return {row[0]: ManifestRow(*row) for row in rows}

    async def versions(
        self, key: RepoKey, paths: Collection[str] | None = None
    ) -> dict[FileVersion, VersionRow]:
        """Return the file versions of a repo, whichever checkouts have them."""
        query = (
            "SELECT path, blob, chunks, language, index_version, status "
            f"FROM versions WHERE {OF_REPO}"
        )
        rows = await self._run(lambda db: _select(db, query, key.columns, "path", paths))
        return {FileVersion(row[0], row[1]): VersionRow(*row) for row in rows}

    async def totals(self, checkout: Checkout) -> tuple[int, int]:
        """Return how many files a checkout has, and their size together."""
        query = "SELECT count(*), coalesce(sum(size), 0) FROM files WHERE checkout = ?"
        files, size = await self._run(lambda db: db.execute(query, (checkout.id,)).fetchone())
        return files, size

    async def repos(self, store: str, collection: str) -> set[str]:
        """Return the repos of a collection."""
        query = "SELECT DISTINCT repo FROM versions WHERE store = ? AND collection = ?"
        rows = await self._run(lambda db: db.execute(query, (store, collection)).fetchall())
        return {row[0] for row in rows}

    async def counts(self, store: str) -> dict[tuple[str, str, str], tuple[int, int]]:
        """Return the files and chunks of each checkout, by collection, repo and folder."""
        query = (
            "SELECT c.collection, c.repo, c.root, count(*), sum(v.chunks) FROM checkouts c "
            "JOIN files f ON f.checkout = c.id JOIN versions v USING (store, collection, repo) "
            "WHERE c.store = ? AND v.path = f.path AND v.blob = f.blob GROUP BY c.id"
        )
        rows = await self._run(lambda db: db.execute(query, (store,)).fetchall())
        return {tuple(row[:3]): tuple(row[3:]) for row in rows}

    async def claim_name(self, key: RepoKey, identity: str) -> str:
        """Claim a repo's name for an identity; returns the identity that claimed it first."""

        def claim(db: sqlite3.Connection) -> str:
            db.execute("INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?)", (*key.columns, identity))
            query = f"SELECT identity FROM owners WHERE {OF_REPO}"
            return str(db.execute(query, key.columns).fetchone()[0])

        return await self._run(claim)

    async def record_checkout(self, key: RepoKey, root: Path, *, linked: bool = False) -> Checkout:
        """Record a folder that a repo is indexed from."""

        def record(db: sqlite3.Connection) -> int:
            known = f"UPDATE OR IGNORE checkouts SET root = ? WHERE {OF_REPO} AND root = ?"
            db.execute(known, (str(root), *key.columns, tables.UNKNOWN_ROOT))
            new = (
                "INSERT INTO checkouts (store, collection, repo, root, linked) VALUES "
                "(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET linked = excluded.linked RETURNING id"
            )
            return int(db.execute(new, (*key.columns, str(root), linked)).fetchall()[0][0])

        return Checkout(await self._run(record), key, root, linked)

    async def checkouts(self, store: str, collection: str) -> list[Checkout]:
        """Return the checkouts of a collection by repo; of one repo the main one comes first."""
        query = (
            "SELECT id, repo, root, linked FROM checkouts WHERE store = ? AND collection = ? "
            "ORDER BY repo, linked, id"
        )
        rows = await self._run(lambda db: db.execute(query, (store, collection)).fetchall())
        return [
            Checkout(row[0], RepoKey(store, collection, row[1]), Path(row[2]), bool(row[3]))
            for row in rows
        ]

    async def hidden(self, checkout: Checkout) -> list[FileVersion]:
        """Return the versions that may have points and that a checkout does not have."""

        def find(db: sqlite3.Connection) -> list[FileVersion]:
            key = checkout.key.columns
            others = f"SELECT count(*) FROM checkouts WHERE {OF_REPO}"
            is_alone = db.execute(others, key).fetchone()[0] <= 1
            only = " AND status <> 'done'" if is_alone else ""  # found by an index of few rows
            query = (
                f"SELECT path, blob FROM versions WHERE {OF_REPO}{only} AND NOT {tables.HELD_BY}"
            )
            return [FileVersion(*row) for row in db.execute(query, (*key, checkout.id))]

        return await self._run(find)

    async def others(self, checkout: Checkout) -> set[FileVersion]:
        """Return the versions that the other checkouts of a repo have."""
        query = (
            "SELECT f.path, f.blob FROM checkouts c JOIN files f ON f.checkout = c.id "
            f"WHERE {OF_REPO} AND c.id <> ?"
        )
        given = (*checkout.key.columns, checkout.id)
        rows = await self._run(lambda db: db.execute(query, given).fetchall())
        return {FileVersion(*row) for row in rows}

    async def stamp(self) -> tuple[int, int]:
        """Return what changes with every change of the file, by this process or another."""

        def read(db: sqlite3.Connection) -> tuple[int, int]:
            return db.total_changes, int(db.execute("PRAGMA data_version").fetchone()[0])

        return await self._run(read)

    async def begin(self, key: RepoKey, versions: Iterable[VersionRow]) -> None:
        """Record versions whose points are about to be written."""
        statement = f"INSERT OR REPLACE INTO versions VALUES ({', '.join('?' * 9)})"
        values = [(*key.columns, *vars(row).values()) for row in versions]
        await self._run(lambda db: db.executemany(statement, values).close())

    async def hold(
        self, checkout: Checkout, files: Sequence[CheckoutFile], done: Iterable[FileVersion] = ()
    ) -> bool:
        """Let a checkout have these versions instead of its older ones; `done` are complete.

        At once its searches see them. Returns whether versions are left that no checkout has.
        """

        def change(db: sqlite3.Connection) -> bool:
            before = _held(db, checkout, [file.path for file in files])
            rows = [(checkout.id, *vars(file).values()) for file in files]
            db.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", rows)
            _set_status(db, checkout.key, done, DONE)
            return _release(db, checkout.key, before - {(f.path, f.blob) for f in files})

        return await self._change(change)

    async def finish(self, key: RepoKey, versions: Iterable[FileVersion]) -> None:
        """Record that the points of versions are complete, and that there are no others."""
        await self._change(lambda db: _set_status(db, key, versions, DONE))

    async def release(self, checkout: Checkout, paths: Sequence[str]) -> bool:
        """Take files from a checkout. Returns whether versions are left that no checkout has."""

        def change(db: sqlite3.Connection) -> bool:
            before = _held(db, checkout, paths)
            gone = [(checkout.id, path) for path, _ in before]
            db.executemany("DELETE FROM files WHERE checkout = ? AND path = ?", gone)
            return _release(db, checkout.key, before)

        return await self._change(change)

    async def remove_repo(self, key: RepoKey) -> None:
        """Delete every row of a repo, and free its name."""

        def change(db: sqlite3.Connection) -> None:
            ids = f"SELECT id FROM checkouts WHERE {OF_REPO}"
            db.execute(f"DELETE FROM files WHERE checkout IN ({ids})", key.columns)
            for table in ("versions", "owners", "checkouts"):
                db.execute(f"DELETE FROM {table} WHERE {OF_REPO}", key.columns)

        await self._change(change)

    async def forget_checkout(self, checkout: Checkout) -> None:
        """Take all files from a checkout, and forget it."""

        def change(db: sqlite3.Connection) -> None:
            held = "SELECT path, blob FROM files WHERE checkout = ?"
            before = {FileVersion(*row) for row in db.execute(held, (checkout.id,))}
            db.execute("DELETE FROM files WHERE checkout = ?", (checkout.id,))
            db.execute("DELETE FROM checkouts WHERE id = ?", (checkout.id,))
            _release(db, checkout.key, before)

        await self._change(change)

    async def abandon(self, key: RepoKey) -> bool:
        """Give up what a run that was cut short had begun for no checkout yet.

        Returns whether versions are left that no checkout has.
        """

        def change(db: sqlite3.Connection) -> bool:
            given_up = f"UPDATE versions SET status = '{REMOVING}' WHERE {OF_REPO} "
            db.execute(f"{given_up} AND status = '{WRITING}' AND NOT {HELD}", key.columns)
            left = f"SELECT 1 FROM versions WHERE {OF_REPO} AND status = '{REMOVING}' LIMIT 1"
            return bool(db.execute(left, key.columns).fetchall())

        return await self._change(change)

    async def removable(self, key: RepoKey) -> list[FileVersion]:
        """Return the versions that no checkout has and whose points are to be deleted."""
        query = f"SELECT path, blob FROM versions WHERE {OF_REPO} AND status = '{REMOVING}'"
        rows = await self._run(lambda db: db.execute(query, key.columns).fetchall())
        return [FileVersion(*row) for row in rows]

    async def kept(self, key: RepoKey, paths: Sequence[str]) -> list[FileVersion]:
        """Return the versions of paths whose points stay."""
        query = f"SELECT path, blob FROM versions WHERE {OF_REPO} AND status <> '{REMOVING}'"

        def find(db: sqlite3.Connection) -> list[FileVersion]:
            return [
                FileVersion(*row)
                for batch in batches(paths, PATHS_PER_STATEMENT)
                for row in db.execute(
                    f"{query} AND path IN ({_marks(batch)})", (*key.columns, *batch)
                )
            ]

        return await self._run(find)

    async def forget_versions(self, key: RepoKey, versions: Iterable[FileVersion]) -> None:
        """Delete the rows of versions whose points are deleted."""
        gone = f"DELETE FROM versions WHERE {OF_REPO} AND path = ? AND blob = ? AND status = ?"
        values = [(*key.columns, *version, REMOVING) for version in versions]
        await self._run(lambda db: db.executemany(gone, values).close())

    async def promote(self, checkout: Checkout, built: Checkout) -> None:
        """Put the rows that were written for a built collection in the place of a checkout's.

        Versions that only other checkouts have are kept: their points were copied.
        """

        def change(db: sqlite3.Connection) -> None:
            key = checkout.key
            db.execute("DELETE FROM files WHERE checkout = ?", (checkout.id,))
            db.execute("UPDATE files SET checkout = ? WHERE checkout = ?", (checkout.id, built.id))
            db.execute("DELETE FROM checkouts WHERE id = ?", (built.id,))
            moved = f"UPDATE OR REPLACE versions SET collection = ? WHERE {OF_REPO}"
            db.execute(moved, (key.collection, *built.key.columns))
            db.execute(f"DELETE FROM versions WHERE {OF_REPO} AND NOT {HELD}", key.columns)

        await self._change(change)

    async def remove_builds(self, store: str, collection: str) -> None:
        """Delete the rows of collections built for this name that were never swapped in."""

        def change(db: sqlite3.Connection) -> None:
            query = "SELECT DISTINCT collection FROM checkouts WHERE store = ?"
            for [name] in db.execute(query, (store,)).fetchall():
                if is_generation(name, collection):
                    of_build = "WHERE store = ? AND collection = ?"
                    ids = f"SELECT id FROM checkouts {of_build}"
                    db.execute(f"DELETE FROM files WHERE checkout IN ({ids})", (store, name))
                    for table in ("checkouts", "versions"):
                        db.execute(f"DELETE FROM {table} {of_build}", (store, name))

        await self._change(change)

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    async def _change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a transaction that reads before it writes: nobody else writes between."""

        def change(db: sqlite3.Connection) -> T:
            db.execute("BEGIN IMMEDIATE")
            return work(db)

        return await self._run(change)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
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


def _select(
    db: sqlite3.Connection,
    query: str,
    given: Sequence[Any],
    column: str,
    paths: Collection[str] | None,
) -> list[tuple[Any, ...]]:
    """Return the rows of a query, or those of some files and of all files in some folders."""
    if paths is None or "" in paths:
        return db.execute(query, given).fetchall()
    # A path inside a folder begins with its name and a slash; "0" follows the slash. Two
    # statements: with an OR, SQLite reads every row for each path.
    found: list[tuple[Any, ...]] = []
    for path in paths:
        found += db.execute(f"{query} AND {column} = ?", (*given, path))
        inside = (*given, f"{path}/", f"{path}0")
        found += db.execute(f"{query} AND {column} >= ? AND {column} < ?", inside)
    return found


def _held(db: sqlite3.Connection, checkout: Checkout, paths: Sequence[str]) -> set[FileVersion]:
    """Return the versions that a checkout has of paths."""
    query = "SELECT path, blob FROM files WHERE checkout = ? AND path IN"
    return {
        FileVersion(*row)
        for batch in batches(paths, PATHS_PER_STATEMENT)
        for row in db.execute(f"{query} ({_marks(batch)})", (checkout.id, *batch))
    }


def _release(db: sqlite3.Connection, key: RepoKey, versions: Iterable[tuple[str, str]]) -> bool:
    """Mark those of the versions that no checkout has; whether there are any."""
    before = db.total_changes
    mark = f"UPDATE versions SET status = '{REMOVING}' WHERE {OF_REPO} AND path = ? AND blob = ?"
    db.executemany(f"{mark} AND NOT {HELD}", [(*key.columns, *each) for each in versions])
    return db.total_changes > before


def _set_status(
    db: sqlite3.Connection, key: RepoKey, versions: Iterable[FileVersion], status: str
) -> None:
    change = f"UPDATE versions SET status = ? WHERE {OF_REPO} AND path = ? AND blob = ?"
    db.executemany(change, [(status, *key.columns, *version) for version in versions])


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return sqlite.connect(path, lambda db: tables.create_tables(db.execute))
