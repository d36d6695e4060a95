"""The file versions of the manifest: one content of a path each, and whether its points are there.

`begin` → `writing`, `finish` or a checkout's `hold` → `done`, no checkout left → `removing`,
`forget` → no row.
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ctx_indexer.manifest.database import Database, rows_of_paths
from ctx_indexer.manifest.rows import FileVersion, RepoKey, VersionRow
from ctx_indexer.manifest.tables import DONE, HELD, OF_REPO, REMOVING, WRITING


@dataclass(frozen=True)
class VersionTable:
    """The versions that have points, or are about to get or to lose them."""

    _database: Database

    async def of_repo(
        self, key: RepoKey, paths: Collection[str] | None = None
    ) -> dict[FileVersion, VersionRow]:
        """Return the file versions of a repo, whichever checkouts have them."""
        query = (
            "SELECT path, blob, chunks, language, index_version, status "
            f"FROM versions WHERE {OF_REPO}"
        )
        rows = await self._database.read_paths(query, key.columns, "path", paths)
        return {FileVersion(row[0], row[1]): VersionRow(*row) for row in rows}

    async def repos(self, store: str, collection: str) -> set[str]:
        """Return the repos of a collection."""
        query = "SELECT DISTINCT repo FROM versions WHERE store = ? AND collection = ?"
        return {row[0] for row in await self._database.read(query, (store, collection))}

    async def begin(self, key: RepoKey, versions: Iterable[VersionRow]) -> None:
        """Record versions whose points are about to be written."""
        statement = f"INSERT OR REPLACE INTO versions VALUES ({', '.join('?' * 9)})"
        values = [(*key.columns, *vars(row).values()) for row in versions]
        await self._database.run(lambda db: db.executemany(statement, values).close())

    async def finish(self, key: RepoKey, versions: Iterable[FileVersion]) -> None:
        """Record that the points of versions are complete, and that there are no others."""
        await self._database.change(lambda db: finish_versions(db, key, versions))

    async def abandon(self, key: RepoKey) -> bool:
        """Give up the versions that a run which was cut short had begun for no checkout yet.

        Returns whether versions are left that no checkout has.
        """

        def change(db: sqlite3.Connection) -> bool:
            given_up = f"UPDATE versions SET status = '{REMOVING}' WHERE {OF_REPO} "
            db.execute(f"{given_up} AND status = '{WRITING}' AND NOT {HELD}", key.columns)
            left = f"SELECT 1 FROM versions WHERE {OF_REPO} AND status = '{REMOVING}' LIMIT 1"
            return bool(db.execute(left, key.columns).fetchall())

        return await self._database.change(change)

    async def removable(self, key: RepoKey) -> list[FileVersion]:
        """Return the versions that no checkout has and whose points are to be deleted."""
        query = f"SELECT path, blob FROM versions WHERE {OF_REPO} AND status = '{REMOVING}'"
        return [FileVersion(*row) for row in await self._database.read(query, key.columns)]

    async def kept(self, key: RepoKey, paths: Sequence[str]) -> list[FileVersion]:
        """Return the versions of paths whose points stay."""
        query = (
            f"SELECT path, blob FROM versions WHERE {OF_REPO} AND status <> '{REMOVING}' "
            "AND path IN"
        )
        rows = await self._database.run(
            lambda db: list(rows_of_paths(db, query, key.columns, paths))
        )
        return [FileVersion(*row) for row in rows]

    async def forget(self, key: RepoKey, versions: Iterable[FileVersion]) -> None:
        """Delete the rows of versions whose points are deleted."""
        gone = f"DELETE FROM versions WHERE {OF_REPO} AND path = ? AND blob = ? AND status = ?"
        values = [(*key.columns, *version, REMOVING) for version in versions]
        await self._database.run(lambda db: db.executemany(gone, values).close())


def finish_versions(db: sqlite3.Connection, key: RepoKey, versions: Iterable[FileVersion]) -> None:
    """Mark versions as done, inside a transaction."""
    change = f"UPDATE versions SET status = ? WHERE {OF_REPO} AND path = ? AND blob = ?"
    db.executemany(change, [(DONE, *key.columns, *version) for version in versions])


def release_versions(db: sqlite3.Connection, key: RepoKey, versions: Iterable[FileVersion]) -> bool:
    """Mark versions that no checkout has as removable, inside a transaction; whether any is."""
    before = db.total_changes
    mark = f"UPDATE versions SET status = '{REMOVING}' WHERE {OF_REPO} AND path = ? AND blob = ?"
    db.executemany(f"{mark} AND NOT {HELD}", [(*key.columns, *each) for each in versions])
    return db.total_changes > before
