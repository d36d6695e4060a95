"""The files of the manifest's checkouts: which version of each path a checkout has."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.database import Database, rows_of_paths
from ctx_indexer.manifest.rows import CheckoutFile, FileVersion, ManifestRow
from ctx_indexer.manifest.tables import HELD_BY, OF_REPO, ROWS
from ctx_indexer.manifest.versions import finish_versions, release_versions


@dataclass(frozen=True)
class FileTable:
    """The files of checkouts. A version stays as long as a checkout holds it."""

    _database: Database

    async def of(
        self, checkout: Checkout, paths: Collection[str] | None = None
    ) -> dict[str, ManifestRow]:
        """Return the files of a checkout by path; `paths` are the files and folders wanted."""
        given = (checkout.id, *checkout.key.columns)
        rows = await self._database.read_paths(ROWS, given, "f.path", paths)
        return {row[0]: ManifestRow(*row) for row in rows}

    async def totals(self, checkout: Checkout) -> tuple[int, int]:
        """Return how many files a checkout has, and their size together."""
        query = "SELECT count(*), coalesce(sum(size), 0) FROM files WHERE checkout = ?"
        [(files, size)] = await self._database.read(query, (checkout.id,))
        return files, size

    async def hidden(self, checkout: Checkout) -> list[FileVersion]:
        """Return the versions that may have points and that a checkout does not have."""

        def find(db: sqlite3.Connection) -> list[FileVersion]:
            key = checkout.key.columns
            others = f"SELECT count(*) FROM checkouts WHERE {OF_REPO}"
            is_alone = db.execute(others, key).fetchone()[0] <= 1
            only = " AND status <> 'done'" if is_alone else ""  # found by an index of few rows
            query = f"SELECT path, blob FROM versions WHERE {OF_REPO}{only} AND NOT {HELD_BY}"
            return [FileVersion(*row) for row in db.execute(query, (*key, checkout.id))]

        return await self._database.run(find)

    async def of_others(self, checkout: Checkout) -> set[FileVersion]:
        """Return the versions that the other checkouts of a repo have."""
        query = (
            "SELECT f.path, f.blob FROM checkouts c JOIN files f ON f.checkout = c.id "
            f"WHERE {OF_REPO} AND c.id <> ?"
        )
        rows = await self._database.read(query, (*checkout.key.columns, checkout.id))
        return {FileVersion(*row) for row in rows}

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
            finish_versions(db, checkout.key, done)
            now = {FileVersion(file.path, file.blob) for file in files}
            return release_versions(db, checkout.key, before - now)

        return await self._database.change(change)

    async def release(self, checkout: Checkout, paths: Sequence[str]) -> bool:
        """Take files from a checkout. Returns whether versions are left that no checkout has."""

        def change(db: sqlite3.Connection) -> bool:
            before = _held(db, checkout, paths)
            gone = [(checkout.id, path) for path, _ in before]
            db.executemany("DELETE FROM files WHERE checkout = ? AND path = ?", gone)
            return release_versions(db, checkout.key, before)

        return await self._database.change(change)


def _held(db: sqlite3.Connection, checkout: Checkout, paths: Sequence[str]) -> set[FileVersion]:
    """Return the versions that a checkout has of paths."""
    query = "SELECT path, blob FROM files WHERE checkout = ? AND path IN"
    return {FileVersion(*row) for row in rows_of_paths(db, query, (checkout.id,), paths)}
