"""Stores relations of conversations, and finds paths along them."""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import Select, and_, delete, or_, select
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records import reading
from ctx_memory.records.conversations.summaries import removed
from ctx_memory.records.conversations.types import Direction, Relation, RelationType
from ctx_memory.records.conversations.upsert import insert_into
from ctx_memory.records.database import Dialect
from ctx_memory.records.tables import relations

MAX_PATH_NODES = 20_000  # conversations that a search for a path visits
# The length of a relation is 1 / weight; one of weight 0 is long, not endless.
MIN_PATH_WEIGHT = 0.01


async def save(
    connection: AsyncConnection, dialect: Dialect, given: Sequence[Relation], now: str
) -> None:
    """Add relations, each with its inverse where its type has one; a known one is reweighted."""
    both = [*given, *(inverse for each in given if (inverse := _inverse(each)) is not None)]
    # In one order, so that no transactions deadlock.
    for each in sorted(both, key=lambda one: (one.source, one.target, one.type)):
        values = {"weight": each.weight, "is_automatic": each.is_automatic, "updated_at": now}
        fresh = insert_into(relations, dialect).values(
            source=each.source, target=each.target, type=each.type.value, created_at=now, **values
        )
        keys = ["source", "target", "type"]
        # A relation that somebody asked for stays theirs, also where it is found automatically.
        may_change = relations.c.is_automatic if each.is_automatic else None
        await connection.execute(
            fresh.on_conflict_do_update(index_elements=keys, set_=values, where=may_change)
        )


async def replace_similar(
    connection: AsyncConnection,
    dialect: Dialect,
    conversation: str,
    weights: Mapping[str, float],
    now: str,
) -> None:
    """Replace the automatic `similar` relations of a conversation."""
    outdated = and_(
        relations.c.source == conversation,
        relations.c.type == RelationType.SIMILAR.value,
        relations.c.is_automatic,
        relations.c.target.not_in(list(weights)),
    )
    await connection.execute(delete(relations).where(outdated))
    found = [
        Relation(conversation, other, RelationType.SIMILAR, weight, is_automatic=True)
        for other, weight in weights.items()
    ]
    await save(connection, dialect, found, now)


async def of(
    connection: AsyncConnection,
    conversation: str,
    type_: RelationType | None,
    direction: Direction,
) -> list[Relation]:
    """Return the relations of a conversation, the strongest first."""
    ends = {
        Direction.OUTGOING: relations.c.source == conversation,
        Direction.INCOMING: relations.c.target == conversation,
        Direction.BOTH: or_(relations.c.source == conversation, relations.c.target == conversation),
    }
    query = _live().where(ends[direction])
    if type_ is not None:
        query = query.where(relations.c.type == type_.value)
    order = relations.c.weight.desc(), relations.c.updated_at.desc(), relations.c.target
    return await _read(connection, query.order_by(*order))


async def from_sources(connection: AsyncConnection, sources: Sequence[str]) -> list[Relation]:
    """Return every relation that leaves one of these conversations."""
    found: list[Relation] = []
    for batch in reading.id_batches(sources):
        found += await _read(connection, _live().where(relations.c.source.in_(batch)))
    return found


async def path(connection: AsyncConnection, source: str, target: str) -> list[str]:
    """Return the shortest directed path, both ends included; heavier relations are shorter."""
    if source == target:
        return [source]
    edges: dict[str, list[Relation]] = defaultdict(list)
    seen, frontier = {source}, [source]
    while frontier and len(seen) < MAX_PATH_NODES:
        found = await from_sources(connection, frontier)
        for each in found:
            edges[each.source].append(each)
        frontier = sorted({each.target for each in found} - seen)
        seen.update(frontier)
    return _shortest(edges, source, target)


def _shortest(edges: Mapping[str, Sequence[Relation]], source: str, target: str) -> list[str]:
    """Run Dijkstra's algorithm; return [] where no path leads to the target."""
    queue: list[tuple[float, str, str | None]] = [(0.0, source, None)]
    came_from: dict[str, str | None] = {}
    while queue:
        length, node, previous = heapq.heappop(queue)
        if node in came_from:
            continue
        came_from[node] = previous
        if node == target:
            return _walk_back(came_from, target)
        for edge in edges.get(node, ()):
            step = 1.0 / max(edge.weight, MIN_PATH_WEIGHT)
            heapq.heappush(queue, (length + step, edge.target, node))
    return []


def _walk_back(came_from: Mapping[str, str | None], target: str) -> list[str]:
    node: str | None = target
    nodes = []
    while node is not None:
        nodes.append(node)
        node = came_from[node]
    return nodes[::-1]


def _inverse(relation: Relation) -> Relation | None:
    type_ = relation.type.inverse
    if type_ is None:
        return None
    return Relation(relation.target, relation.source, type_, relation.weight, relation.is_automatic)


def _live() -> "Select[tuple[object, ...]]":
    """Select relations whose ends no cleanup removed."""
    return select(relations).where(
        relations.c.source.not_in(removed()), relations.c.target.not_in(removed())
    )


async def _read(connection: AsyncConnection, query: "Select[tuple[object, ...]]") -> list[Relation]:
    return [_relation(row) for row in (await connection.execute(query)).mappings()]


def _relation(row: RowMapping) -> Relation:
    return Relation(
        row["source"], row["target"], RelationType(row["type"]), row["weight"], row["is_automatic"]
    )
