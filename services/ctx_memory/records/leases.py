"""Leases on the outbox's rows: which process writes the points of which entry.

A process leases rows for some seconds, and no other process leases another row of the same entry
meanwhile. So one process at a time writes an entry's points, from the entry as it is in SQL after
the lease: an older revision never overwrites a newer one.
"""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import and_, delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.clock import utc_now
from ctx_memory.records.database import Dialect
from ctx_memory.records.reading import id_batches, read_by
from ctx_memory.records.tables import entries, outbox
from ctx_memory.records.types import EntryKind, OutboxItem, moment
from ctx_memory.records.writing import enqueue

LEASE_LOCK = 7_402  # our key among PostgreSQL's advisory locks
LEASE_SECONDS = 15.0  # how long the rows of a process that died stay leased
# A lease that ends this many times later was written while a clock was wrong: it does not count.
LATEST_END = 2


async def lease(
    connection: AsyncConnection, dialect: Dialect, owner: str, limit: int
) -> Sequence[OutboxItem]:
    """Lease the oldest rows that no other process holds; return them with their entries."""
    if dialect == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(LEASE_LOCK)))
    others = outbox.alias("others")
    now = utc_now()
    latest = now + timedelta(seconds=LATEST_END * LEASE_SECONDS)
    is_leased = exists().where(
        others.c.uuid == outbox.c.uuid,
        others.c.claimed_by != owner,
        others.c.claimed_until > moment(now),
        others.c.claimed_until < moment(latest),
    )
    query = select(outbox).where(~is_leased, outbox.c.problem.is_(None)).order_by(outbox.c.id)
    rows = (await connection.execute(query.limit(limit))).mappings().all()
    await _set(
        connection, [row["id"] for row in rows], claimed_by=owner, claimed_until=_lease_end()
    )
    uuids = list({row["uuid"] for row in rows})
    by_uuid = {entry.uuid: entry for entry in await read_by(connection, entries.c.uuid, uuids)}
    return [
        OutboxItem(
            row["id"],
            row["uuid"],
            EntryKind(row["kind"]),
            row["collection"],
            by_uuid.get(row["uuid"]),
        )
        for row in rows
    ]


async def renew(connection: AsyncConnection, owner: str) -> None:
    """Extend the leases of this owner."""
    is_ours = outbox.c.claimed_by == owner
    await connection.execute(update(outbox).where(is_ours).values(claimed_until=_lease_end()))


async def release(connection: AsyncConnection, owner: str | None) -> None:
    """End the leases of this owner, or of every process where None."""
    condition = outbox.c.claimed_by.is_not(None) if owner is None else outbox.c.claimed_by == owner
    free = {"claimed_by": None, "claimed_until": None}
    await connection.execute(update(outbox).where(condition).values(free))


async def done(connection: AsyncConnection, owner: str, items: Sequence[OutboxItem]) -> None:
    """Delete the rows of items whose points were written.

    A row that another process leased after ours ran out is enqueued again: which of the two wrote
    last is unknown.
    """
    deleted: set[int] = set()
    for ids in id_batches([item.outbox_id for item in items]):
        is_ours = and_(outbox.c.id.in_(ids), outbox.c.claimed_by == owner)
        rows = await connection.execute(delete(outbox).where(is_ours).returning(outbox.c.id))
        deleted |= set(rows.scalars())
    lost = [vars(item) for item in items if item.outbox_id not in deleted]
    await enqueue(connection, lost)
    for uuids in id_batches([item.uuid for item in items]):
        is_parked = and_(outbox.c.uuid.in_(uuids), outbox.c.problem.is_not(None))
        await connection.execute(delete(outbox).where(is_parked))


async def park(connection: AsyncConnection, item: OutboxItem, problem: str) -> None:
    """Mark a row that can never be written, so that it does not hold up the others."""
    await _set(connection, [item.outbox_id], claimed_by=None, claimed_until=None, problem=problem)


async def retry_parked(connection: AsyncConnection) -> None:
    """Have parked rows leased again."""
    is_parked = outbox.c.problem.is_not(None)
    await connection.execute(update(outbox).where(is_parked).values(problem=None))


async def pending(connection: AsyncConnection, uuids: Sequence[str] | None) -> int:
    """Count the rows that wait, of these entries or of all; parked rows do not count."""
    query = select(func.count()).select_from(outbox).where(outbox.c.problem.is_(None))
    if uuids is not None:
        query = query.where(outbox.c.uuid.in_(uuids))
    return await connection.scalar(query) or 0


async def _set(connection: AsyncConnection, ids: Sequence[int], **values: str | None) -> None:
    for batch in id_batches(ids):
        await connection.execute(update(outbox).where(outbox.c.id.in_(batch)).values(values))


def _lease_end() -> str:
    return moment(utc_now() + timedelta(seconds=LEASE_SECONDS))
