"""Private and ephemeral knowledge in SQL, so that no byte of it touches a repository."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, insert, select

from ctx_core.clock import to_iso, utc_now
from ctx_memory.records.database import Database
from ctx_memory.records.tables import private_entries as table

LASTING = ""  # the run of an entry that outlives the server


@dataclass(frozen=True)
class PrivateEntry:
    """An entry of a project's knowledge that is kept in SQL.

    `run` is the run of the server that it ends with, LASTING if it stays.
    """

    project: str
    type: str
    key: str
    content: str
    run: str = LASTING
    author: str = ""
    events: Mapping[str, Any] = field(default_factory=dict)


class PrivateRecords:
    """Keeps private entries. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(
        self, project: str, entry_type: str, runs: Collection[str], key: str | None = None
    ) -> Sequence[PrivateEntry]:
        """Return the entries of a type that belong to these runs, by key."""
        where = [table.c.project == project, table.c.type == entry_type, table.c.run.in_(runs)]
        if key is not None:
            where.append(table.c.key == key)
        query = select(table).where(*where).order_by(table.c.key, table.c.run)
        async with self._database.reading("read private knowledge") as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [
            PrivateEntry(**{name: row[name] for name in PrivateEntry.__dataclass_fields__})
            for row in rows
        ]

    async def save(self, entry: PrivateEntry, runs: Collection[str]) -> None:
        """Write an entry in place of those of its key that belong to these runs."""
        row = {
            "project": entry.project,
            "type": entry.type,
            "key": entry.key,
            "run": entry.run,
            "author": entry.author,
            "content": entry.content,
            "events": dict(entry.events),
            "updated_at": to_iso(utc_now(), "microseconds"),
        }
        async with self._database.writing("keep private knowledge") as connection:
            await connection.execute(delete(table).where(_is(entry, runs)))
            await connection.execute(insert(table).values(row))

    async def remove(self, project: str, entry_type: str, key: str, runs: Collection[str]) -> bool:
        """Delete an entry; return whether it was there."""
        entry = PrivateEntry(project, entry_type, key, "")
        async with self._database.writing("remove private knowledge") as connection:
            done = await connection.execute(delete(table).where(_is(entry, runs)))
            return bool(done.rowcount)

    async def runs(self) -> Sequence[str]:
        """Return the runs that left ephemeral entries."""
        query = select(table.c.run).where(table.c.run != LASTING).distinct()
        async with self._database.reading("read private knowledge") as connection:
            return list((await connection.execute(query)).scalars())

    async def end(self, runs: Collection[str]) -> None:
        """Delete the ephemeral entries of these runs."""
        which = and_(table.c.run != LASTING, table.c.run.in_(runs))
        async with self._database.writing("remove ephemeral knowledge") as connection:
            await connection.execute(delete(table).where(which))


def _is(entry: PrivateEntry, runs: Collection[str]) -> ColumnElement[bool]:
    return and_(
        table.c.project == entry.project,
        table.c.type == entry.type,
        table.c.key == entry.key,
        table.c.run.in_(runs),
    )
