"""Reads entries, tags and images by queries and by lists of values; explains a query."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ClauseElement, Executable

from ctx_core.batches import batches
from ctx_memory.records.entry import ContentType, Entry, EntryKind, Image
from ctx_memory.records.tables import entries, images, tags

T = TypeVar("T")

MAX_IN_LIST = 1000  # values of one IN; both databases stop at about 32,000 parameters


async def read(connection: AsyncConnection, query: Select[Any]) -> list[Entry]:
    """Return the entries that a query over the entries' columns selects, in its order."""
    rows = (await connection.execute(query)).mappings().all()
    return await with_tags(connection, rows)


async def with_tags(connection: AsyncConnection, rows: Sequence[RowMapping]) -> list[Entry]:
    """Turn rows of the entries table into entries, each with its tags."""
    tags_by_id = await tags_of(connection, [row["id"] for row in rows])
    return [_entry(row, tags_by_id.get(row["id"], [])) for row in rows]


async def read_by(
    connection: AsyncConnection,
    column: ColumnElement[T],
    values: Sequence[T],
    *conditions: ColumnElement[bool],
) -> list[Entry]:
    """Return the entries whose column has one of the values and that meet the conditions.

    They come in no particular order.
    """
    found: list[Entry] = []
    for batch in id_batches(values):
        found += await read(connection, select(entries).where(column.in_(batch), *conditions))
    return found


async def tags_of(connection: AsyncConnection, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the tags of entries by id, in alphabetical order."""
    found: dict[int, list[str]] = defaultdict(list)
    for batch in id_batches(ids):
        query = select(tags).where(tags.c.entry_id.in_(batch)).order_by(tags.c.entry_id, tags.c.tag)
        for entry_id, tag in await connection.execute(query):
            found[entry_id].append(tag)
    return found


async def images_of(connection: AsyncConnection, ids: Sequence[int]) -> dict[int, list[Image]]:
    """Return the images of entries by id, in their order; entries without images are left out."""
    found: dict[int, list[Image]] = defaultdict(list)
    for batch in id_batches(ids):
        query = select(images).where(images.c.entry_id.in_(batch))
        ordered = query.order_by(images.c.entry_id, images.c.position)
        for row in (await connection.execute(ordered)).mappings():
            image = Image(row["mime_type"], row["data"], row["metadata"], row["position"])
            found[row["entry_id"]].append(image)
    return dict(found)


def id_batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut a list of values into batches that fit into one IN."""
    return batches(values, MAX_IN_LIST)


def _entry(row: RowMapping, tags: Sequence[str]) -> Entry:
    values = {name: row[name] for name in Entry.__dataclass_fields__ if name != "tags"}
    values["kind"] = EntryKind(values["kind"])
    values["content_type"] = ContentType(values["content_type"])
    return Entry(**values, tags=tags)


# --- plans ---------------------------------------------------------------------------------


class Explain(Executable, ClauseElement):
    """An EXPLAIN statement of a query, whose values stay bound parameters."""

    inherit_cache = False

    def __init__(self, query: Select[Any]) -> None:
        self.query = query


@compiles(Explain)
def _explain(element: Explain, compiler: Any, **options: Any) -> str:
    word = "EXPLAIN QUERY PLAN" if compiler.dialect.name == "sqlite" else "EXPLAIN"
    return f"{word} {compiler.process(element.query, **options)}"


async def query_plan(connection: AsyncConnection, query: Select[Any]) -> list[str]:
    """Return the steps of the plan: the last column of each row, on both databases."""
    return [str(row[-1]) for row in await connection.execute(Explain(query))]
