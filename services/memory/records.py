"""The record store: the SQL tables, and the only file that speaks SQL."""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    delete,
    event,
    exists,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.engine import RowMapping, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from services.core.errors import StorageFailed

BUSY_TIMEOUT_MS = 10_000  # how long a writer waits for another one
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",  # acknowledged means that it survives a power cut
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA foreign_keys=ON",
)

_schema = MetaData()

entries = Table(
    "entries",
    _schema,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("uuid", String(36), nullable=False, unique=True),
    Column("kind", String(32), nullable=False),  # memory; thread entries and messages later
    Column("collection", String(128), nullable=False),
    Column("text", Text, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("updated_at", String(32), nullable=False),
    Index("entries_by_collection", "kind", "collection"),
    sqlite_autoincrement=True,
)

outbox = Table(
    "outbox",
    _schema,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), nullable=False, index=True),
    sqlite_autoincrement=True,
)


@dataclass(frozen=True)
class Entry:
    """A row of the entries table."""

    uuid: str
    kind: str
    collection: str
    text: str
    metadata: Mapping[str, Any]
    content_hash: str
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class Due:
    """An entry whose vectors have not been written yet."""

    outbox_id: int
    entry: Entry


class Records:
    """Entries and the outbox, in one database."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, url: str) -> "Records":
        """Connect, and create what is not there."""
        records = cls(_engine(url))
        try:
            async with records._transaction("create the tables") as connection:
                await connection.run_sync(_schema.create_all)
        except StorageFailed:
            await records.close()
            raise
        return records

    async def add(self, entry: Entry) -> None:
        """Commit the entry together with its outbox row: both or neither."""
        async with self._transaction("store the entry") as connection:
            row = await connection.execute(insert(entries).values(**vars(entry)))
            key = row.inserted_primary_key
            assert key is not None
            await connection.execute(insert(outbox).values(entry_id=key[0]))

    async def due(self, limit: int) -> Sequence[Due]:
        """The oldest entries that wait for their vectors."""
        query = (
            select(outbox.c.id.label("outbox_id"), entries)
            .join(entries, entries.c.id == outbox.c.entry_id)
            .order_by(outbox.c.id)
            .limit(limit)
        )
        async with self._transaction("read the outbox") as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [Due(row["outbox_id"], _entry(row)) for row in rows]

    async def done(self, outbox_ids: Sequence[int]) -> None:
        async with self._transaction("clear the outbox") as connection:
            await connection.execute(delete(outbox).where(outbox.c.id.in_(outbox_ids)))

    async def pending(self) -> int:
        """How many entries wait for their vectors."""
        async with self._transaction("read the outbox") as connection:
            return await connection.scalar(select(func.count()).select_from(outbox)) or 0

    async def counts(self, kind: str) -> dict[str, int]:
        """How many entries each collection holds."""
        query = (
            select(entries.c.collection, func.count())
            .where(entries.c.kind == kind)
            .group_by(entries.c.collection)
        )
        async with self._transaction("count entries") as connection:
            rows = (await connection.execute(query)).all()
        return {str(collection): int(count) for collection, count in rows}

    async def enqueue_all(self, kind: str, collection: str) -> None:
        """Have the vectors of every entry of a collection written again."""
        waiting = exists().where(outbox.c.entry_id == entries.c.id)
        rows = select(entries.c.id).where(
            entries.c.kind == kind, entries.c.collection == collection, ~waiting
        )
        async with self._transaction("fill the outbox") as connection:
            await connection.execute(insert(outbox).from_select(["entry_id"], rows))

    async def ping(self) -> None:
        """Really ask the database."""
        async with self._transaction("ask the database") as connection:
            await connection.execute(text("SELECT 1"))

    async def close(self) -> None:
        await self._engine.dispose()

    @contextlib.asynccontextmanager
    async def _transaction(self, doing: str) -> AsyncIterator[AsyncConnection]:
        """Commits at the end; the database's errors become ours here and nowhere else."""
        try:
            async with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise StorageFailed(
                f"Could not {doing} in {self._engine.url}: {_reason(error)}"
            ) from error


def _entry(row: RowMapping) -> Entry:
    return Entry(**{name: row[name] for name in Entry.__dataclass_fields__})


def _engine(url: str) -> AsyncEngine:
    parsed = make_url(url).set(drivername="sqlite+aiosqlite")
    if parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(parsed)

    @event.listens_for(engine.sync_engine, "connect")
    def _configure(connection: Any, _: Any) -> None:
        cursor = connection.cursor()
        for pragma in SQLITE_PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    return engine


def _reason(error: SQLAlchemyError) -> str:
    return str(getattr(error, "orig", None) or error)
