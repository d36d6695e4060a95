"""Counts of entries by thread, source, kind and collection."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, case, distinct, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.database import Database
from ctx_memory.records.entry import ContentType, EntryKind
from ctx_memory.records.tables import entries, images, tags

MAX_ACTIVE_THREADS = 5  # as the contract's system lists
MAX_TOP_TAGS = 10
SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}


@dataclass(frozen=True)
class ThreadSummary:
    """The size, sources and times of one thread."""

    thread: str
    entries: int
    sources: Mapping[str, int]  # source → number of entries
    multimodal: int
    first_at: str
    last_at: str
    last_id: int


@dataclass(frozen=True)
class Statistics:
    """Counts of the entries of one kind. `size_bytes` is of the whole database."""

    entries: int
    by_source: Mapping[str, int]
    by_content_type: Mapping[str, int]
    threads: int
    images: int
    tags: int
    most_active: Sequence[tuple[str, int]]  # threads with the most entries
    top_tags: Sequence[tuple[str, int]]
    summarised: int
    summarised_by: Mapping[str, int]  # author of summaries → number of summaries
    size_bytes: int


class EntryCounts:
    """Counts entries. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def threads(
        self, kind: EntryKind, limit: int | None = None, offset: int = 0
    ) -> tuple[list[ThreadSummary], int]:
        """Return a page of the threads, the most recently written first, and how many there are."""
        count = select(func.count(distinct(entries.c.thread))).where(entries.c.kind == kind.value)
        async with self._database.reading("list threads") as connection:
            page = await _threads(connection, _thread_page(kind, limit, offset), kind, limit)
            return page, await _scalar(connection, count)

    async def statistics(self, kind: EntryKind) -> Statistics:
        """Count the entries of a kind in every way that `get_statistics` reports."""
        async with self._database.reading("count entries") as connection:
            size = await _scalar(connection, text(SIZE[self._database.dialect]))
            return await _statistics(connection, entries.c.kind == kind.value, size)

    async def collections(self, kind: EntryKind) -> dict[str, int]:
        """Count the entries of each collection."""
        of_kind = entries.c.kind == kind.value
        async with self._database.reading("count entries") as connection:
            return await _count_by(connection, entries.c.collection, of_kind)


def _thread_page(kind: EntryKind, limit: int | None, offset: int) -> Select[Any]:
    is_multimodal = entries.c.content_type == ContentType.MULTIMODAL.value
    return (
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


async def _threads(
    connection: AsyncConnection, page: Select[Any], kind: EntryKind, limit: int | None
) -> list[ThreadSummary]:
    rows = (await connection.execute(page)).mappings().all()
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


async def _statistics(
    connection: AsyncConnection, of_kind: ColumnElement[bool], size_bytes: int
) -> Statistics:
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
        size_bytes=size_bytes,
    )


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
