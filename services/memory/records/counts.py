"""Counts entries by thread, source, kind and collection."""

from collections import defaultdict
from typing import Any

from sqlalchemy import ColumnElement, case, distinct, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.memory.records.database import Dialect
from services.memory.records.tables import entries, images, tags
from services.memory.records.types import ContentType, EntryKind, Statistics, ThreadSummary

SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}


async def threads(connection: AsyncConnection, kind: EntryKind) -> list[ThreadSummary]:
    """Return every thread of a kind, the most recently written first."""
    is_multimodal = entries.c.content_type == ContentType.MULTIMODAL.value
    query = (
        select(
            entries.c.thread,
            func.count().label("entries"),
            func.sum(case((is_multimodal, 1), else_=0)).label("multimodal"),
            func.min(entries.c.created_at).label("first_at"),
            func.max(entries.c.created_at).label("last_at"),
            func.max(entries.c.id).label("last_id"),
        )
        .where(entries.c.kind == kind.value, entries.c.thread.is_not(None))
        .group_by(entries.c.thread)
        .order_by(func.max(entries.c.created_at).desc(), func.max(entries.c.id).desc())
    )
    sources = await _sources(connection, kind)
    rows = (await connection.execute(query)).mappings()
    return [ThreadSummary(**row, sources=sources[row["thread"]]) for row in rows]


async def _sources(connection: AsyncConnection, kind: EntryKind) -> dict[str, dict[str, int]]:
    query = (
        select(entries.c.thread, entries.c.source, func.count())
        .where(entries.c.kind == kind.value, entries.c.source.is_not(None))
        .group_by(entries.c.thread, entries.c.source)
        .order_by(entries.c.thread, entries.c.source)
    )
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for thread, source, count in await connection.execute(query):
        found[thread][source] = count
    return found


async def statistics(connection: AsyncConnection, dialect: Dialect, kind: EntryKind) -> Statistics:
    """Count the entries of a kind in every way that `get_statistics` reports."""
    of_kind = entries.c.kind == kind.value
    totals = select(
        func.count().label("entries"),
        func.count(distinct(entries.c.thread)).label("threads"),
        func.sum(case((entries.c.summary != "", 1), else_=0)).label("summarised"),
    ).where(of_kind)
    row = (await connection.execute(totals)).mappings().one()
    ids = select(entries.c.id).where(of_kind)
    return Statistics(
        entries=row["entries"],
        threads=row["threads"],
        summarised=row["summarised"] or 0,
        summarised_by=await _count_by(connection, entries.c.summary_by, of_kind),
        by_source=await _count_by(connection, entries.c.source, of_kind),
        by_content_type=await _count_by(connection, entries.c.content_type, of_kind),
        images=await _scalar(connection, select(func.count()).where(images.c.entry_id.in_(ids))),
        tags=await _scalar(
            connection, select(func.count(distinct(tags.c.tag))).where(tags.c.entry_id.in_(ids))
        ),
        size_bytes=await _scalar(connection, text(SIZE[dialect])),
    )


async def collections(connection: AsyncConnection, kind: EntryKind) -> dict[str, int]:
    """Count the entries of each collection."""
    return await _count_by(connection, entries.c.collection, entries.c.kind == kind.value)


async def _count_by(
    connection: AsyncConnection, column: ColumnElement[Any], condition: ColumnElement[bool]
) -> dict[str, int]:
    query = select(column, func.count()).where(condition, column.is_not(None)).group_by(column)
    rows = await connection.execute(query.order_by(column))
    return {str(value): int(count) for value, count in rows}


async def _scalar(connection: AsyncConnection, query: Any) -> int:
    return int(await connection.scalar(query) or 0)
