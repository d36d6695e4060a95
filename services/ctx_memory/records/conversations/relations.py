"""Relations of conversations in SQL, and paths along them."""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Select, and_, delete, or_, select
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.clock import utc_now
from ctx_memory.records import reading
from ctx_memory.records.conversations.summaries import removed
from ctx_memory.records.database import Database, Dialect, insert_into
from ctx_memory.records.entry import moment
from ctx_memory.records.tables import relations

MAX_PATH_NODES = 20_000  # conversations that a search for a path visits
# The length of a relation is 1 / weight; one of weight 0 is long, not endless.
MIN_PATH_WEIGHT = 0.01


class RelationType(StrEnum):
    """How one conversation relates to another; a parent's inverse is a child."""

    SIMILAR = "similar"
    CONTINUES = "continues"
    REFERENCES = "references"
    PARENT = "parent"
    CHILD = "child"

    @property
    def inverse(self) -> "RelationType | None":
        """The type of the relation in the other direction, where there always is one."""
        return {
            RelationType.PARENT: RelationType.CHILD,
            RelationType.CHILD: RelationType.PARENT,
        }.get(self)


class Direction(StrEnum):
    """Which relations of a conversation are meant."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


@dataclass(frozen=True)
class Relation:
    """A directed, weighted relation of two conversations."""

    source: str
    target: str
    type: RelationType
    weight: float
    is_automatic: bool = False


class RelationRecords:
    """Keeps relations. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, relation: Relation) -> None:
        """Add a relation and its inverse, or change the weight of a known one."""
        async with self._database.writing("add a relation") as connection:
            await save(connection, self._database.dialect, [relation], moment(utc_now()))

    async def replace_similar(self, id_: str, weights: Mapping[str, float]) -> None:
        """Replace the automatic `similar` relations of a conversation."""
        found = [
            Relation(id_, other, RelationType.SIMILAR, weight, is_automatic=True)
            for other, weight in weights.items()
        ]
        outdated = and_(
            relations.c.source == id_,
            relations.c.type == RelationType.SIMILAR.value,
            relations.c.is_automatic,
            relations.c.target.not_in(list(weights)),
        )
        async with self._database.writing("add relations") as connection:
            await connection.execute(delete(relations).where(outdated))
            await save(connection, self._database.dialect, found, moment(utc_now()))

    async def of(
        self, id_: str, type_: RelationType | None, direction: Direction
    ) -> list[Relation]:
        """Return the relations of a conversation, the strongest first."""
        outgoing, incoming = relations.c.source == id_, relations.c.target == id_
        ends = {
            Direction.OUTGOING: outgoing,
            Direction.INCOMING: incoming,
            Direction.BOTH: or_(outgoing, incoming),
        }
        query = _live().where(ends[direction])
        if type_ is not None:
            query = query.where(relations.c.type == type_.value)
        order = relations.c.weight.desc(), relations.c.updated_at.desc(), relations.c.target
        async with self._database.reading("read relations") as connection:
            return await _read(connection, query.order_by(*order))

    async def path(self, source: str, target: str) -> list[str]:
        """Return the shortest directed path, both ends included; [] where there is none.

        Heavier relations are shorter.
        """
        if source == target:
            return [source]
        edges: dict[str, list[Relation]] = defaultdict(list)
        seen, frontier = {source}, [source]
        async with self._database.reading("find a path") as connection:
            while frontier and len(seen) < MAX_PATH_NODES:
                found = await from_sources(connection, frontier)
                for each in found:
                    edges[each.source].append(each)
                frontier = sorted({each.target for each in found} - seen)
                seen.update(frontier)
        return _shortest(edges, source, target)


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


async def from_sources(connection: AsyncConnection, sources: Sequence[str]) -> list[Relation]:
    """Return every relation that leaves one of these conversations."""
    found: list[Relation] = []
    for batch in reading.id_batches(sources):
        found += await _read(connection, _live().where(relations.c.source.in_(batch)))
    return found


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
