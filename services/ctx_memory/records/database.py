"""Connections to SQLite or PostgreSQL: transactions that read, transactions that write."""

import asyncio
import contextlib
import errno
import os
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import aiosqlite
from sqlalchemy import Table, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    MissingGreenlet,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import QueuePool

from ctx_core.errors import InvalidInput, SettingsInvalid, StorageFailed
from ctx_core.sqlite import enable_wal
from ctx_memory.records.filters.sqlite import register_functions

Dialect = Literal["sqlite", "postgresql"]
_WHERE = re.compile(r" \('[^']{0,100}', [0-9]{1,5}[^)]{0,20}\)")  # of a socket
# Names in the messages of PostgreSQL and its client: `for user "bob"`, `host name "db.local"`.
_WHO = re.compile(r"\b(user|role|host|host name|server at|database)[ =]\"[^\"]{0,200}\"")

BUSY_TIMEOUT_MS = 10_000  # of a reader: another process may be recovering the file
# A writer asks for the lock again after this time. SQLite's own waiting backs off to 100 ms, and
# among many writers one that asks so seldom may never get it.
WRITER_BUSY_TIMEOUT_MS = 25
WRITER_TIMEOUT_SECONDS = 30.0
MIN_SQLITE = (3, 35)  # the first with RETURNING
SQLITE_READERS = 4  # connections, each with a thread
POSTGRESQL_CONNECTIONS = 10
POSTGRESQL_LIFETIME_SECONDS = 1800  # a firewall may drop an older connection
SQLITE_PRAGMAS = (
    "PRAGMA synchronous=FULL",  # an acknowledged write survives a power cut
    "PRAGMA foreign_keys=ON",
)
READER = "reader"  # key of a connection's `info`: the task that reads, whose end stops a query
STEPS_BETWEEN_CHECKS = 100_000  # of SQLite's machine, a millisecond or two
CHARACTER_NOT_IN_REPERTOIRE = "22021"  # PostgreSQL's code for a text that it has no letters for
NUL_REFUSED = "hold a NUL character, which PostgreSQL can neither keep nor compare; remove it"
SYNCHRONOUS = "synchronous"  # key of a connection's `info`: the mode it was last set to


class Database:
    """Connections to one database; its errors are raised as StorageFailed.

    A text with a NUL, which PostgreSQL refuses, is raised as InvalidInput.
    """

    def __init__(self, url: str) -> None:
        self.url, self.dialect = _parse_url(url)
        self.name = self.url.set(drivername=self.dialect).render_as_string(hide_password=True)
        if self.dialect == "sqlite":
            self._reader = _sqlite(self.url, BUSY_TIMEOUT_MS, pool_size=SQLITE_READERS)
            self._writer = _sqlite(self.url, WRITER_BUSY_TIMEOUT_MS, pool_size=1)
        else:
            self._reader = self._writer = _postgresql(self.url)

    @contextlib.asynccontextmanager
    async def reading(self, action: str) -> AsyncIterator[AsyncConnection]:
        """Open a read transaction: all its queries see one state of the database."""
        async with self._translated_errors(action), self._reader.connect() as connection:
            if self.dialect == "sqlite":
                (await connection.get_raw_connection()).info[READER] = asyncio.current_task()
                await connection.execute(text("BEGIN"))
            else:
                await connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextlib.asynccontextmanager
    async def writing(
        self, action: str, *, durable: bool = True, wait_seconds: float = WRITER_TIMEOUT_SECONDS
    ) -> AsyncIterator[AsyncConnection]:
        """Open a write transaction, committed at the end; waits `wait_seconds` for other writers.

        A transaction that is not `durable` may be undone by a power cut, though not by a crash.
        """
        async with self._translated_errors(action), self._writer.connect() as connection:
            if self.dialect == "sqlite":
                await _begin_sqlite(connection, durable, wait_seconds)
            elif not durable:
                await connection.execute(text("SET LOCAL synchronous_commit TO off"))
            yield connection
            await connection.commit()

    def exists(self) -> bool:
        """Whether the SQLite file exists: connecting would create it. True for PostgreSQL."""
        return self.dialect != "sqlite" or Path(self.url.database or "").exists()

    def connections(self) -> dict[str, dict[str, int]]:
        """Return the maximal size, open and used connections of each pool."""
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
    async def _translated_errors(self, action: str) -> AsyncIterator[None]:
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            if _is_nul_refused(error):
                raise InvalidInput("arguments", NUL_REFUSED) from error
            raise StorageFailed(f"Could not {action} in {self._place}: {reason(error)}") from error

    @property
    def _place(self) -> str:
        """The database as errors name it: without its URL, user and host."""
        return str(self.url.database) if self.dialect == "sqlite" else "PostgreSQL (DATABASE_URL)"


async def _roll_back(driver: Any) -> None:
    """End the transaction of a connection, if it still can; also where the caller gives that up."""
    with contextlib.suppress(aiosqlite.Error, ValueError):
        await asyncio.shield(driver.rollback())


async def _begin_sqlite(connection: AsyncConnection, durable: bool, wait_seconds: float) -> None:
    """Begin with the write lock: a transaction that reads first may never be granted it."""
    mode = "FULL" if durable else "NORMAL"
    raw = await connection.get_raw_connection()
    if raw.info.get(SYNCHRONOUS) != mode:
        await connection.execute(text(f"PRAGMA synchronous={mode}"))
        raw.info[SYNCHRONOUS] = mode
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            await connection.execute(text("BEGIN IMMEDIATE"))
            return
        except OperationalError as error:
            if "locked" not in str(error.orig) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(0)


def _is_nul_refused(error: Exception) -> bool:
    """Whether PostgreSQL refused a text of the caller because it holds a NUL."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    refused = getattr(cause, "sqlstate", None) == CHARACTER_NOT_IN_REPERTOIRE
    return refused and str(cause).rstrip().endswith("0x00")


def reason(error: Exception) -> str:
    """Return the database's own message, without SQLAlchemy's additions, users and hosts."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, OSError) and (cause.errno or 0) > 0:
        return os.strerror(cause.errno or 0)  # its own text names the host
    line = str(cause).split("\n", maxsplit=1)[0]
    return _WHERE.sub("", _WHO.sub(r"\1", line)) or type(error).__name__


def _parse_url(url: str) -> tuple[URL, Dialect]:
    """Return the URL with its driver. Raises SettingsInvalid."""
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
    """Rename libpq's `sslmode`, which asyncpg calls `ssl`."""
    query = dict(url.query)
    if "sslmode" in query:
        query["ssl"] = query.pop("sslmode")
    return url.set(drivername="postgresql+asyncpg", query=query)


def _prepare_folder(file: Path) -> None:
    """Create the folder of a SQLite file. Raises StorageFailed where that cannot work."""
    if aiosqlite.sqlite_version_info < MIN_SQLITE:
        minimum = ".".join(map(str, MIN_SQLITE))
        raise StorageFailed(
            f"This Python has SQLite {aiosqlite.sqlite_version}; {minimum} is needed. Use a newer "
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
        url, pool_size=pool_size, max_overflow=0, pool_timeout=WRITER_TIMEOUT_SECONDS
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _configure(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin by our own BEGIN
        register_functions(connection)

        def is_cancelled() -> bool:
            """Whether to stop a query: it would go on after its caller's deadline."""
            task: asyncio.Task[Any] | None = record.info.get(READER)
            return task is not None and task.cancelling() > 0

        connection.run_async(
            lambda driver: driver.set_progress_handler(is_cancelled, STEPS_BETWEEN_CHECKS)
        )
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        enable_wal(cursor.execute)
        for pragma in SQLITE_PRAGMAS:
            cursor.execute(pragma)
        cursor.execute(f"PRAGMA busy_timeout={busy_timeout_ms}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "invalidate")
    def _give_up(connection: Any, record: Any, error: Any) -> None:
        """Roll back before a connection is closed whose call was given up.

        SQLite keeps the locks of a closed connection as long as a cursor of it has a statement, and
        the traceback of the call has cursors until garbage is collected.
        """
        with contextlib.suppress(MissingGreenlet):  # thrown away by the collector of garbage
            connection.run_async(_roll_back)

    return engine


def _postgresql(url: URL) -> AsyncEngine:
    try:
        return create_async_engine(
            url,
            pool_size=POSTGRESQL_CONNECTIONS,
            pool_timeout=WRITER_TIMEOUT_SECONDS,
            pool_recycle=POSTGRESQL_LIFETIME_SECONDS,
            pool_pre_ping=True,
        )
    except ModuleNotFoundError as error:
        raise SettingsInvalid(
            "DATABASE_URL names PostgreSQL, whose driver is not installed: "
            "pip install 'ctx-engine[postgres]'"
        ) from error


def insert_into(table: Table, dialect: Dialect) -> sqlite.Insert | postgresql.Insert:
    """Return an insert that has `on_conflict_do_update` and `on_conflict_do_nothing`."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
