"""The outbox's rows: who carries which entry to Qdrant.

A process claims rows for a while, and nobody claims another row of the same entry meanwhile. So
one process at a time writes an entry's points, from what SQL says after the claim: an older
revision never overwrites a newer one.
"""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import and_, delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.core.clock import utc_now
from services.memory.records.database import Dialect
from services.memory.records.reading import among, parts
from services.memory.records.tables import entries, outbox
from services.memory.records.types import Due, EntryKind, moment
from services.memory.records.writing import enqueue

CLAIM_LOCK = 7_402  # our name among PostgreSQL's advisory locks
LEASE_SECONDS = 15.0  # how long the rows of a process that died stay with it


async def claim(
    connection: AsyncConnection, dialect: Dialect, owner: str, limit: int
) -> Sequence[Due]:
    """The oldest rows that nobody else is at, with the entries as they are now."""
    if dialect == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(CLAIM_LOCK)))
    others = outbox.alias("others")
    now = _now()
    taken = exists().where(
        others.c.uuid == outbox.c.uuid, others.c.claimed_by != owner, others.c.claimed_until > now
    )
    query = select(outbox).where(~taken, outbox.c.problem.is_(None)).order_by(outbox.c.id)
    rows = (await connection.execute(query.limit(limit))).mappings().all()
    await _set(connection, [row["id"] for row in rows], claimed_by=owner, claimed_until=_lease())
    found = await among(connection, entries.c.uuid, list({row["uuid"] for row in rows}))
    by_uuid = {entry.uuid: entry for entry in found}
    return [
        Due(
            row["id"],
            row["uuid"],
            EntryKind(row["kind"]),
            row["collection"],
            by_uuid.get(row["uuid"]),
        )
        for row in rows
    ]


async def renew(connection: AsyncConnection, owner: str) -> None:
    """Keep what is claimed for longer."""
    mine = outbox.c.claimed_by == owner
    await connection.execute(update(outbox).where(mine).values(claimed_until=_lease()))


async def release(connection: AsyncConnection, owner: str | None) -> None:
    """Give up what this owner claimed, or with None what anybody did."""
    whose = outbox.c.claimed_by.is_not(None) if owner is None else outbox.c.claimed_by == owner
    free = {"claimed_by": None, "claimed_until": None}
    await connection.execute(update(outbox).where(whose).values(free))


async def done(connection: AsyncConnection, owner: str, due: Sequence[Due]) -> None:
    """Strike out what was carried.

    A row that is no longer ours was claimed by another after our time ran out: who wrote last is
    not known, so its entry is written once more.
    """
    struck: set[int] = set()
    for part in parts([item.outbox_id for item in due]):
        mine = and_(outbox.c.id.in_(part), outbox.c.claimed_by == owner)
        gone = await connection.execute(delete(outbox).where(mine).returning(outbox.c.id))
        struck |= set(gone.scalars())
    lost = [vars(item) for item in due if item.outbox_id not in struck]
    await enqueue(connection, lost)
    carried = [item.uuid for item in due]
    for uuids in parts(carried):  # what could not be written before was written now
        parked = and_(outbox.c.uuid.in_(uuids), outbox.c.problem.is_not(None))
        await connection.execute(delete(outbox).where(parked))


async def park(connection: AsyncConnection, due: Due, problem: str) -> None:
    """Put aside what can never be written as it is, so that it does not hold up the others."""
    await _set(connection, [due.outbox_id], claimed_by=None, claimed_until=None, problem=problem)


async def retry_parked(connection: AsyncConnection) -> None:
    parked = outbox.c.problem.is_not(None)
    await connection.execute(update(outbox).where(parked).values(problem=None))


async def pending(connection: AsyncConnection, uuids: Sequence[str] | None) -> int:
    """How many rows wait, of these entries or of all; not those that are put aside."""
    query = select(func.count()).select_from(outbox).where(outbox.c.problem.is_(None))
    if uuids is not None:
        query = query.where(outbox.c.uuid.in_(uuids))
    return await connection.scalar(query) or 0


async def _set(connection: AsyncConnection, ids: Sequence[int], **values: str | None) -> None:
    for part in parts(ids):
        await connection.execute(update(outbox).where(outbox.c.id.in_(part)).values(values))


def _now() -> str:
    return moment(utc_now())


def _lease() -> str:
    return moment(utc_now() + timedelta(seconds=LEASE_SECONDS))
