"""The manifest: which file versions have points, and which checkout has which of them."""

import sqlite3
from pathlib import Path

from ctx_indexer.manifest.checkouts import CheckoutTable
from ctx_indexer.manifest.database import Database
from ctx_indexer.manifest.files import FileTable
from ctx_indexer.manifest.versions import VersionTable


class Manifest:
    """The tables of one file. Each method of its parts runs off the event loop.

    All raise StorageFailed where the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path)
        self.checkouts = CheckoutTable(self._database)
        self.files = FileTable(self._database)
        self.versions = VersionTable(self._database)

    async def stamp(self) -> tuple[int, int]:
        """Return a value that any change of the file changes, by this process or another."""

        def read(db: sqlite3.Connection) -> tuple[int, int]:
            return db.total_changes, int(db.execute("PRAGMA data_version").fetchone()[0])

        return await self._database.run(read)

    def close(self) -> None:
        self._database.close()
