"""The database: SQLite or PostgreSQL, behind one way to read and one way to write."""

import asyncio
import contextlib
import errno
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import aiosqlite
from sqlalchemy import event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import QueuePool

from services.core.errors import SettingsInvalid, StorageFailed
from services.core.sqlite import write_ahead
from services.memory.records.filters.sqlite import register_functions

Dialect = Literal["sqlite", "postgresql"]

BUSY_TIMEOUT_MS = 10_000  # how long a reader waits where another process recovers the file
# A writer waits in short rounds: SQLite looks again after 1, 2, 5, 10 ms and so on up to 100, and
# among many busy processes one that looks so seldom may never find the file free.
WRITER_ROUND_MS = 25
WRITER_PATIENCE_SECONDS = 30.0
OLDEST_SQLITE = (3, 35)  # knows RETURNING
SQLITE_READERS = 4  # connections, each with a thread
POSTGRESQL_CONNECTIONS = 10
POSTGRESQL_LIFETIME_SECONDS = 1800  # a firewall between may forget an older connection
SQLITE_PRAGMAS = (
    "PRAGMA synchronous=FULL",  # acknowledged means that it survives a power cut
    "PRAGMA foreign_keys=ON",
)
SYNCHRONOUS = "synchronous"  # how a connection was left, in its `info`


class Database:
    """Connections to one database. The database's errors become ours here and nowhere else."""

    def __init__(self, url: str) -> None:
        self.url, self.dialect = _address(url)
        self.name = self.url.set(drivername=self.dialect).render_as_string(hide_password=True)
        if self.dialect == "sqlite":
            self._reader = _sqlite(self.url, BUSY_TIMEOUT_MS, pool_size=SQLITE_READERS)
            self._writer = _sqlite(self.url, WRITER_ROUND_MS, pool_size=1)
        else:
            self._reader = self._writer = _postgresql(self.url)

    @contextlib.asynccontextmanager
    async def reading(self, doing: str) -> AsyncIterator[AsyncConnection]:
        """One view of the database, whatever is written meanwhile."""
        async with self._ours(doing), self._reader.connect() as connection:
            if self.dialect == "sqlite":
                await connection.execute(text("BEGIN"))
            else:
                await connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextlib.asynccontextmanager
    async def writing(
        self, doing: str, *, durable: bool = True, patience: float = WRITER_PATIENCE_SECONDS
    ) -> AsyncIterator[AsyncConnection]:
        """Commits at the end: all or nothing. Writers wait for each other, for so many seconds.

        What is not `durable` may be undone by a power cut, though never by a crash of ours.
        """
        async with self._ours(doing), self._writer.connect() as connection:
            if self.dialect == "sqlite":
                await _begin_sqlite(connection, durable, patience)
            elif not durable:
                await connection.execute(text("SET LOCAL synchronous_commit TO off"))
            yield connection
            await connection.commit()

    def is_there(self) -> bool:
        """Whether connecting would not create it: SQLite makes a file."""
        return self.dialect != "sqlite" or Path(self.url.database or "").exists()

    def connections(self) -> dict[str, dict[str, int]]:
        """Of each pool: how large it may grow, how many connections it has, how many are in use."""
        pools = {"reading": self._reader.pool, "writing": self._writer.pool}
        return {
            name: {
                "size": pool.size(),
                "open": pool.checkedin() + pool.checkedout(),
                "in_use": pool.checkedout(),
            }
            for name, pool in pools.items()
            if isinstance(pool, QueuePool)
        }

    async def close(self) -> None:
        await self._reader.dispose()
        await self._writer.dispose()

    @contextlib.asynccontextmanager
    async def _ours(self, doing: str) -> AsyncIterator[None]:
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            raise StorageFailed(f"Could not {doing} in {self.name}: {reason(error)}") from error


async def _begin_sqlite(connection: AsyncConnection, durable: bool, patience: float) -> None:
    """Take the write lock at once: to take it later may fail however long one waits."""
    mode = "FULL" if durable else "NORMAL"
    raw = await connection.get_raw_connection()
    if raw.info.get(SYNCHRONOUS) != mode:
        await connection.execute(text(f"PRAGMA synchronous={mode}"))
        raw.info[SYNCHRONOUS] = mode
    deadline = time.monotonic() + patience
    while True:
        try:
            await connection.execute(text("BEGIN IMMEDIATE"))
            return
        except OperationalError as error:
            if "locked" not in str(error.orig) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(0)


def reason(error: Exception) -> str:
    """What the database said, without SQLAlchemy's words around it."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return str(cause).split("\n", maxsplit=1)[0] or type(error).__name__


def _address(url: str) -> tuple[URL, Dialect]:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SettingsInvalid(
            "DATABASE_URL is no URL: use sqlite:///path/to/file or postgresql://user@host/name"
        ) from error
    match parsed.get_backend_name():
        case "sqlite" if parsed.database and parsed.database != ":memory:":
            return parsed.set(drivername="sqlite+aiosqlite"), "sqlite"
        case "postgresql" | "postgres":
            return _for_asyncpg(parsed), "postgresql"
        case _:
            name = parsed.render_as_string(hide_password=True)
            raise SettingsInvalid(
                f"DATABASE_URL={name}: records are kept in sqlite:///path/to/file or "
                "postgresql://user:password@host/name"
            )


def _for_asyncpg(url: URL) -> URL:
    """libpq's `sslmode` is called `ssl` there."""
    query = dict(url.query)
    if "sslmode" in query:
        query["ssl"] = query.pop("sslmode")
    return url.set(drivername="postgresql+asyncpg", query=query)


def _prepare_folder(file: Path) -> None:
    if aiosqlite.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise StorageFailed(
            f"This Python has SQLite {aiosqlite.sqlite_version}; {oldest} is needed. Use a newer "
            "Python, or PostgreSQL by DATABASE_URL."
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    except OSError as error:
        raise StorageFailed(
            f"{file} cannot be written: {error.strerror}. "
            "Choose another place with DATABASE_URL or CTX_DATA_DIR."
        ) from error


def _sqlite(url: URL, busy_timeout_ms: int, *, pool_size: int) -> AsyncEngine:
    _prepare_folder(Path(url.database or ""))
    engine = create_async_engine(
        url, pool_size=pool_size, max_overflow=0, pool_timeout=WRITER_PATIENCE_SECONDS
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _configure(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        register_functions(connection)
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        write_ahead(cursor.execute)
        for pragma in SQLITE_PRAGMAS:
            cursor.execute(pragma)
        cursor.execute(f"PRAGMA busy_timeout={busy_timeout_ms}")
        cursor.close()

    return engine


def _postgresql(url: URL) -> AsyncEngine:
    try:
        return create_async_engine(
            url,
            pool_size=POSTGRESQL_CONNECTIONS,
            pool_timeout=WRITER_PATIENCE_SECONDS,
            pool_recycle=POSTGRESQL_LIFETIME_SECONDS,
            pool_pre_ping=True,
        )
    except ModuleNotFoundError as error:
        raise SettingsInvalid(
            "DATABASE_URL names PostgreSQL, whose driver is not installed: "
            "pip install 'ctx-engine[postgres]'"
        ) from error
