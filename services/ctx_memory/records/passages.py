"""Reads the beginnings of entries, and which entries stand beside them in their threads."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, ScalarSelect, Select, bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.entry import EntryKind
from ctx_memory.records.reading import id_batches
from ctx_memory.records.tables import entries

PASSAGE_LENGTH = 2_000  # characters: more than most entries have, and quick to compare


class Passage(NamedTuple):
    """The beginning of an entry's text, its whole length, and whether a search may show it."""

    id: int
    uuid: str
    text: str
    length: int
    created_at: str
    is_shown: bool


async def passages(
    connection: AsyncConnection, ids: Sequence[int], shown: ColumnElement[bool]
) -> dict[int, Passage]:
    """Return the passages of entries by id; `is_shown` is whether the entry meets `shown`."""
    found: dict[int, Passage] = {}
    columns = (
        entries.c.id,
        entries.c.uuid,
        func.substr(entries.c.text, 1, PASSAGE_LENGTH),
        func.length(entries.c.text),
        entries.c.created_at,
        shown,
    )
    for batch in id_batches(ids):
        rows = await connection.execute(select(*columns).where(entries.c.id.in_(batch)))
        found |= {row[0]: Passage(*row) for row in rows}
    return found


async def neighbours(
    connection: AsyncConnection, ids: Sequence[int], kind: EntryKind, reach: int
) -> dict[int, Mapping[int, int]]:
    """Return by id the entries beside it in its thread: distance → id, negative before it.

    An entry without a thread has none.
    """
    distances, query = _neighbour_query(kind, reach)
    found: dict[int, Mapping[int, int]] = {}
    for batch in id_batches(ids):
        rows = await connection.execute(query, {"ids": batch})
        for id_, *others in rows:
            pairs = zip(distances, others, strict=True)
            found[id_] = {distance: other for distance, other in pairs if other is not None}
    return found


@cache
def _neighbour_query(kind: EntryKind, reach: int) -> tuple[list[int], Select[Any]]:
    """Build the query once: that takes longer than to answer it."""
    distances = [*range(-reach, 0), *range(1, reach + 1)]
    chosen = entries.c.id.in_(bindparam("ids", expanding=True))
    columns = [_beside(distance, kind) for distance in distances]
    return distances, select(entries.c.id, *columns).where(chosen)


def _beside(distance: int, kind: EntryKind) -> ScalarSelect[int]:
    """Return the id of the entry at a distance from each row's, as one look into an index."""
    other = entries.alias()
    order = other.c.id.desc() if distance < 0 else other.c.id.asc()
    is_beyond = other.c.id < entries.c.id if distance < 0 else other.c.id > entries.c.id
    return (
        select(other.c.id)
        .where(other.c.kind == kind.value, other.c.thread == entries.c.thread, is_beyond)
        .order_by(order)
        .offset(abs(distance) - 1)
        .limit(1)
        .correlate(entries)
        .scalar_subquery()
    )
