"""The checkouts of the manifest, and the names that their repos are indexed under."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from ctx_core.vectors.generations import is_generation
from ctx_indexer.manifest.database import Database
from ctx_indexer.manifest.rows import FileVersion, RepoKey
from ctx_indexer.manifest.tables import HELD, OF_REPO, UNKNOWN_ROOT
from ctx_indexer.manifest.versions import release_versions


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


@dataclass(frozen=True)
class CheckoutTable:
    """The folders that repos are indexed from, and which identity owns a repo's name."""

    _database: Database

    async def claim_name(self, key: RepoKey, identity: str) -> str:
        """Claim a repo's name for an identity; returns the identity that claimed it first."""

        def claim(db: sqlite3.Connection) -> str:
            db.execute("INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?)", (*key.columns, identity))
            query = f"SELECT identity FROM owners WHERE {OF_REPO}"
            return str(db.execute(query, key.columns).fetchone()[0])

        return await self._database.run(claim)

    async def record(self, key: RepoKey, root: Path, *, linked: bool = False) -> Checkout:
        """Record a folder that a repo is indexed from."""

        def record(db: sqlite3.Connection) -> int:
            known = f"UPDATE OR IGNORE checkouts SET root = ? WHERE {OF_REPO} AND root = ?"
            db.execute(known, (str(root), *key.columns, UNKNOWN_ROOT))
            new = (
                "INSERT INTO checkouts (store, collection, repo, root, linked) VALUES "
                "(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET linked = excluded.linked RETURNING id"
            )
            return int(db.execute(new, (*key.columns, str(root), linked)).fetchall()[0][0])

        return Checkout(await self._database.run(record), key, root, linked)

    async def of_collection(self, store: str, collection: str) -> list[Checkout]:
        """Return the checkouts of a collection by repo; of one repo the main one comes first."""
        query = (
            "SELECT id, repo, root, linked FROM checkouts WHERE store = ? AND collection = ? "
            "ORDER BY repo, linked, id"
        )
        rows = await self._database.read(query, (store, collection))
        return [
            Checkout(id_, RepoKey(store, collection, repo), Path(root), bool(linked))
            for id_, repo, root, linked in rows
        ]

    async def counts(self, store: str) -> dict[tuple[str, str, str], tuple[int, int]]:
        """Return the files and chunks of each checkout, by collection, repo and folder."""
        query = (
            "SELECT c.collection, c.repo, c.root, count(*), sum(v.chunks) FROM checkouts c "
            "JOIN files f ON f.checkout = c.id JOIN versions v USING (store, collection, repo) "
            "WHERE c.store = ? AND v.path = f.path AND v.blob = f.blob GROUP BY c.id"
        )
        rows = await self._database.read(query, (store,))
        return {
            (collection, repo, root): (files, chunks)
            for collection, repo, root, files, chunks in rows
        }

    async def forget(self, checkout: Checkout) -> None:
        """Take all files from a checkout, and forget it."""

        def change(db: sqlite3.Connection) -> None:
            held = "SELECT path, blob FROM files WHERE checkout = ?"
            before = {FileVersion(*row) for row in db.execute(held, (checkout.id,))}
            db.execute("DELETE FROM files WHERE checkout = ?", (checkout.id,))
            db.execute("DELETE FROM checkouts WHERE id = ?", (checkout.id,))
            release_versions(db, checkout.key, before)

        await self._database.change(change)

    async def remove_repo(self, key: RepoKey) -> None:
        """Delete every row of a repo, and free its name."""

        def change(db: sqlite3.Connection) -> None:
            ids = f"SELECT id FROM checkouts WHERE {OF_REPO}"
            db.execute(f"DELETE FROM files WHERE checkout IN ({ids})", key.columns)
            for table in ("versions", "owners", "checkouts"):
                db.execute(f"DELETE FROM {table} WHERE {OF_REPO}", key.columns)

        await self._database.change(change)

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

        await self._database.change(change)

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

        await self._database.change(change)
