"""Counts the calls of vectors, relations and summaries."""

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.conversations.types import CallTotals
from ctx_memory.records.tables import calls


async def add(connection: AsyncConnection, type_: str, at: str, milliseconds: float) -> None:
    await connection.execute(insert(calls).values(type=type_, at=at, milliseconds=milliseconds))


async def totals(connection: AsyncConnection, since: str, until: str) -> dict[str, CallTotals]:
    """Return count and mean duration of each type between two times."""
    query = (
        select(calls.c.type, func.count(), func.avg(calls.c.milliseconds))
        .where(calls.c.at >= since, calls.c.at <= until)
        .group_by(calls.c.type)
    )
    rows = await connection.execute(query)
    return {type_: CallTotals(count, float(mean)) for type_, count, mean in rows}


async def purge(connection: AsyncConnection, before: str) -> int:
    """Delete calls before a time; return how many."""
    return (await connection.execute(delete(calls).where(calls.c.at < before))).rowcount
