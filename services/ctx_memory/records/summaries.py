"""Summaries of single entries in SQL: due ones are read, written ones are set."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, bindparam, func, select, update

from ctx_memory.records import reading
from ctx_memory.records.database import Database
from ctx_memory.records.entry import Entry, EntryKind
from ctx_memory.records.tables import entries


class EntrySummaries:
    """Keeps the summaries of entries. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(
        self, kind: EntryKind, min_length: int, limit: int, after: int = 0
    ) -> list[Entry]:
        """Return entries with an id above `after` that need a summary, oldest first."""
        query = select(entries).where(entries.c.id > after, _is_due(kind, min_length))
        async with self._database.reading("read entries") as connection:
            return await reading.read(connection, query.order_by(entries.c.id).limit(limit))

    async def count_due(self, kind: EntryKind, min_length: int) -> int:
        """Count the entries of at least `min_length` characters that have no summary."""
        query = select(func.count()).select_from(entries).where(_is_due(kind, min_length))
        async with self._database.reading("count entries") as connection:
            return await connection.scalar(query) or 0

    async def save(self, summaries: Sequence[tuple[Entry, str]], by: str) -> None:
        """Save summaries written by `by`, except of entries whose text has changed since.

        It raises no revision, and a power cut may undo it: the worker writes it again.
        """
        same_text = and_(
            entries.c.id == bindparam("entry_id"), entries.c.content_hash == bindparam("digest")
        )
        values = {"summary": bindparam("new_summary"), "summary_by": by}
        rows = [
            {"entry_id": entry.id, "digest": entry.content_hash, "new_summary": summary}
            for entry, summary in summaries
        ]
        statement = update(entries).where(same_text).values(values)
        async with self._database.writing("set summaries", durable=False) as connection:
            await connection.execute(statement, rows)


def _is_due(kind: EntryKind, min_length: int) -> ColumnElement[bool]:
    is_long = func.length(entries.c.text) >= min_length
    return and_(entries.c.kind == kind.value, entries.c.summary == "", is_long)
