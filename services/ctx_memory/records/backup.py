"""Copies the records before a migration changes them."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.blocking import DISK
from ctx_core.clock import utc_now
from ctx_core.errors import StorageFailed
from ctx_memory.records.database import Database
from ctx_memory.records.tables import VERSION_TABLE
from ctx_memory.records.tables import schema as our_schema


async def back_up(database: Database, connection: AsyncConnection, revision: str) -> str:
    """Copy the database; return where the copy is. `connection` must hold the write lock."""
    now = utc_now().strftime("%Y%m%dT%H%M%S%f")
    if database.dialect == "sqlite":
        original = Path(database.url.database or "")
        copy = original.with_name(f"{original.name}.before-{revision}-{now}")
        await DISK.run(_copy_file, original, copy)
        return str(copy)
    schema = f"backup_{revision}_{now.lower()}"
    await _copy_tables(connection, schema)
    return f"schema {schema}"


def _copy_file(original: Path, copy: Path) -> None:
    """Copy by SQLite's backup, which includes the write-ahead log. Raises StorageFailed."""
    partial = copy.with_name(f"{copy.name}.partial")
    try:
        partial.touch(mode=original.stat().st_mode)
        with (
            closing(sqlite3.connect(original)) as source,
            closing(sqlite3.connect(partial)) as target,
        ):
            source.backup(target)
        partial.replace(copy)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise StorageFailed(
            f"{original} is older than this ctx and was left as it is, because no copy could be "
            f"made at {copy}: {error}. Make room or make the folder writable, and start again."
        ) from error


async def _copy_tables(connection: AsyncConnection, schema: str) -> None:
    """Copy our tables into a new schema, in the migration's transaction."""
    present = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    await connection.execute(text(f'CREATE SCHEMA "{schema}"'))
    for name in [each for each in (*our_schema.tables, VERSION_TABLE) if each in present]:
        await connection.execute(text(f'CREATE TABLE "{schema}"."{name}" AS TABLE "{name}"'))
