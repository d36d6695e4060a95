"""Examines a database without changing it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, inspect, select

from ctx_memory.records.database import Database
from ctx_memory.records.migrate import newest_revision, revision
from ctx_memory.records.tables import entries, outbox


@dataclass(frozen=True)
class Health:
    """The state of the records; `problems` says why Qdrant takes no points of parked entries.

    `is_new` says that there are no tables yet.
    """

    name: str
    is_current: bool
    is_new: bool = False
    entries: int = 0
    waiting: int = 0
    problems: Sequence[str] = ()


async def examine(url: str) -> Health:
    """Read the state of the records; create and migrate nothing. Raises StorageFailed."""
    database = Database(url)
    try:
        if not database.exists():
            return Health(database.name, is_current=False, is_new=True)
        return await _examine(database)
    finally:
        await database.close()


async def _examine(database: Database) -> Health:
    async with database.reading("examine the records") as connection:
        if await connection.run_sync(revision) != newest_revision():
            tables = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
            return Health(database.name, is_current=False, is_new=entries.name not in tables)
        rows = await connection.execute(select(outbox.c.problem))
        problems = [row.problem for row in rows]
        return Health(
            database.name,
            is_current=True,
            entries=await connection.scalar(select(func.count()).select_from(entries)) or 0,
            waiting=sum(problem is None for problem in problems),
            problems=[problem for problem in problems if problem is not None],
        )
