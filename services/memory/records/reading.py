"""Reads entries: by id, by uuid, by criteria."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from services.core.batches import batches
from services.memory.records.tables import entries, images, tags
from services.memory.records.types import ContentType, Entry, EntryKind, Image

T = TypeVar("T")

IN_LIST = 1000  # ids in one statement; both databases stop at about 32,000 parameters


async def read(connection: AsyncConnection, query: Select[Any]) -> list[Entry]:
    """The entries that a query over the entries' columns selects, in its order."""
    rows = (await connection.execute(query)).mappings().all()
    return await with_tags(connection, rows)


async def with_tags(connection: AsyncConnection, rows: Sequence[RowMapping]) -> list[Entry]:
    """Rows of the entries table as entries."""
    found = await tags_of(connection, [row["id"] for row in rows])
    return [_entry(row, found.get(row["id"], [])) for row in rows]


async def among(
    connection: AsyncConnection,
    column: ColumnElement[T],
    values: Sequence[T],
    *conditions: ColumnElement[bool],
) -> list[Entry]:
    """The entries whose column is one of the values, under further conditions; in no order."""
    found: list[Entry] = []
    for part in parts(values):
        found += await read(connection, select(entries).where(column.in_(part), *conditions))
    return found


async def tags_of(connection: AsyncConnection, ids: Sequence[int]) -> dict[int, list[str]]:
    """The tags of entries, in alphabetical order."""
    found: dict[int, list[str]] = defaultdict(list)
    for part in parts(ids):
        query = select(tags).where(tags.c.entry_id.in_(part)).order_by(tags.c.entry_id, tags.c.tag)
        for entry_id, tag in await connection.execute(query):
            found[entry_id].append(tag)
    return found


async def images_of(connection: AsyncConnection, ids: Sequence[int]) -> dict[int, list[Image]]:
    """The images of entries, in their order; entries without any are left out."""
    found: dict[int, list[Image]] = defaultdict(list)
    for part in parts(ids):
        query = select(images).where(images.c.entry_id.in_(part))
        ordered = query.order_by(images.c.entry_id, images.c.position)
        for row in (await connection.execute(ordered)).mappings():
            image = Image(row["mime_type"], row["data"], row["metadata"])
            found[row["entry_id"]].append(image)
    return dict(found)


def parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Slices that fit into one statement."""
    return batches(values, IN_LIST)


def _entry(row: RowMapping, tags: Sequence[str]) -> Entry:
    values = {name: row[name] for name in Entry.__dataclass_fields__ if name != "tags"}
    values["kind"] = EntryKind(values["kind"])
    values["content_type"] = ContentType(values["content_type"])
    return Entry(**values, tags=tags)
