"""The record store: one SQL database, the source of truth, in parts by noun."""

from collections.abc import Sequence

from sqlalchemy import text

from ctx_core.settings.memory import DEFAULT_INDEXED_FIELDS
from ctx_memory.records.counts import EntryCounts
from ctx_memory.records.database import Database, Dialect
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.filters.indexes import index_metadata
from ctx_memory.records.fulltext.index import TextIndex
from ctx_memory.records.fulltext.query import STEMMED
from ctx_memory.records.fulltext.search import TextSearch
from ctx_memory.records.migrate import migrate
from ctx_memory.records.outbox import OutboxRecords
from ctx_memory.records.private import PrivateRecords
from ctx_memory.records.summaries import EntrySummaries
from ctx_memory.records.tables import write_statistics

OPEN_TIMEOUT_SECONDS = 600.0  # another process may be migrating a large database


class Records:
    """An open database. Each part keeps one noun; whoever needs a noun is handed its part."""

    def __init__(self, database: Database, index: TextIndex) -> None:
        self.database = database
        self.entries = EntryRecords(database)
        self.texts = TextSearch(database, index)
        self.summaries = EntrySummaries(database)
        self.counts = EntryCounts(database)
        self.outbox = OutboxRecords(database)
        self.private = PrivateRecords(database)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        indexed_fields: Sequence[str] = DEFAULT_INDEXED_FIELDS,
        language: str = STEMMED,
    ) -> "Records":
        """Connect, migrate, and create indexes that are missing. Raises SettingsInvalid too."""
        database = Database(url)
        index = TextIndex(database.dialect, language, indexed_fields)
        try:
            async with database.writing(
                "prepare the tables", wait_seconds=OPEN_TIMEOUT_SECONDS
            ) as connection:
                await migrate(database, connection)
                await index_metadata(connection, database.dialect, indexed_fields)
                await index.ensure(connection)
                if database.dialect == "sqlite":
                    await write_statistics(connection)
        except BaseException:
            await database.close()
            raise
        return cls(database, index)

    @property
    def dialect(self) -> Dialect:
        return self.database.dialect

    def connections(self) -> dict[str, dict[str, int]]:
        """Return the size and use of each connection pool."""
        return self.database.connections()

    async def ping(self) -> None:
        """Run a query. Raises StorageFailed where the database does not answer."""
        async with self.database.reading("run a query") as connection:
            await connection.execute(text("SELECT 1"))

    async def close(self) -> None:
        await self.database.close()
