"""The tables alone, without the store around them: for what is tested in SQL itself."""

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import event, insert, select
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ctx_memory.records.entry import Criteria
from ctx_memory.records.filters import register_functions, where
from ctx_memory.records.tables import entries, schema

DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
MOMENT = "2026-01-01T00:00:00.{:06d}Z"


def dialect_of(url: str) -> str:
    return make_url(url).get_backend_name()


@asynccontextmanager
async def bare_tables(url: str) -> AsyncIterator[AsyncEngine]:
    """An engine on an empty database in which the tables have been created."""
    engine = create_async_engine(make_url(url).set(drivername=DRIVERS[dialect_of(url)]))
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", lambda raw, _: register_functions(raw))
    try:
        async with engine.begin() as connection:
            await connection.run_sync(schema.create_all)
        yield engine
    finally:
        await engine.dispose()


def row(number: int, **given: Any) -> dict[str, Any]:
    """An entry's row, as plain as can be; later numbers are newer."""
    moment = MOMENT.format(number)
    plain = {
        "id": number,
        "uuid": f"uuid-{number}",
        "kind": "thread",
        "collection": "threads",
        "thread": "t",
        "source": "user",
        "content_type": "text",
        "text": "",
        "metadata": {},
        "content_hash": "",
        "created_at": moment,
        "updated_at": moment,
    }
    return plain | given


async def fill(connection: AsyncConnection, rows: Iterable[Mapping[str, Any]]) -> None:
    await connection.execute(insert(entries), list(rows))


async def found(connection: AsyncConnection, criteria: Criteria) -> list[int]:
    """Return the ids of the entries that meet the criteria."""
    condition = where(criteria, connection.dialect.name)
    rows = await connection.execute(select(entries.c.id).where(condition).order_by(entries.c.id))
    return list(rows.scalars())


async def plan(connection: AsyncConnection, statement: Any) -> str:
    """How the database would go about it."""
    compiled = statement.compile(connection.sync_connection, compile_kwargs={"literal_binds": True})
    word = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
    rows = await connection.exec_driver_sql(f"{word} {compiled}")
    return json.dumps([list(each) for each in rows], default=str)
