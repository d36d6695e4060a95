"""Counts entries by thread, source, kind and collection."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, case, distinct, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.database import Dialect
from ctx_memory.records.tables import entries, images, tags
from ctx_memory.records.types import ContentType, EntryKind, Statistics, ThreadSummary

MAX_ACTIVE_THREADS = 5  # as the contract's system lists
MAX_TOP_TAGS = 10
SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}


async def threads(
    connection: AsyncConnection, kind: EntryKind, limit: int | None, offset: int
) -> list[ThreadSummary]:
    """Return the threads of a kind, the most recently written first."""
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
        .limit(limit)
        .offset(offset)
    )
    rows = (await connection.execute(query)).mappings().all()
    sources = await _sources(connection, kind, [row["thread"] for row in rows] if limit else None)
    return [ThreadSummary(**row, sources=sources[row["thread"]]) for row in rows]


async def _sources(
    connection: AsyncConnection, kind: EntryKind, threads: Sequence[str] | None
) -> dict[str, dict[str, int]]:
    """Count the entries of each source by thread, of the given threads or of all."""
    of_threads = [] if threads is None else [entries.c.thread.in_(threads)]
    query = (
        select(entries.c.thread, entries.c.source, func.count())
        .where(entries.c.kind == kind.value, entries.c.source.is_not(None), *of_threads)
        .group_by(entries.c.thread, entries.c.source)
        .order_by(entries.c.thread, entries.c.source)
    )
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for thread, source, count in await connection.execute(query):
        found[thread][source] = count
    return found


async def count_threads(connection: AsyncConnection, kind: EntryKind) -> int:
    """Count the threads of a kind."""
    query = select(func.count(distinct(entries.c.thread))).where(entries.c.kind == kind.value)
    return await _scalar(connection, query)


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
        most_active=await _most_frequent(
            connection,
            select(entries.c.thread, func.count()).where(of_kind, entries.c.thread.is_not(None)),
            entries.c.thread,
            MAX_ACTIVE_THREADS,
        ),
        top_tags=await _most_frequent(
            connection,
            select(tags.c.tag, func.count()).where(tags.c.entry_id.in_(ids)),
            tags.c.tag,
            MAX_TOP_TAGS,
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


async def _most_frequent(
    connection: AsyncConnection, query: Any, column: ColumnElement[Any], limit: int
) -> list[tuple[str, int]]:
    """Return the most frequent values of a column; equal ones in alphabetical order."""
    ordered = query.group_by(column).order_by(func.count().desc(), column).limit(limit)
    return [(str(value), int(count)) for value, count in await connection.execute(ordered)]


async def _scalar(connection: AsyncConnection, query: Any) -> int:
    return int(await connection.scalar(query) or 0)
