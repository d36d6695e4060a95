"""The outbox in SQL: a row for each entry whose points are to be written or deleted.

A process leases rows for some seconds, and no other process leases another row of the same entry
meanwhile. So one process at a time writes an entry's points, from the entry as it is in SQL after
the lease: an older revision never overwrites a newer one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from sqlalchemy import Select, and_, delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.clock import utc_now
from ctx_memory.records import writing
from ctx_memory.records.database import Database
from ctx_memory.records.entry import Entry, EntryKind, moment
from ctx_memory.records.reading import id_batches, read_by
from ctx_memory.records.tables import entries, outbox

LEASE_LOCK = 7_402  # our key among PostgreSQL's advisory locks
LEASE_SECONDS = 15.0  # how long the rows of a process that died stay leased
# A lease that ends this many times later was written while a clock was wrong: it does not count.
LATEST_END = 2


@dataclass(frozen=True)
class OutboxItem:
    """A leased outbox row: the entry's points must be written, or deleted where it is None."""

    outbox_id: int
    uuid: str
    kind: EntryKind
    collection: str
    entry: Entry | None


class OutboxRecords:
    """Keeps the outbox. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owner = str(uuid4())  # names the leases of this process

    async def lease(self, limit: int) -> Sequence[OutboxItem]:
        """Lease the oldest rows that no other process holds; return them with their entries."""
        async with self._database.writing("lease outbox rows", durable=False) as connection:
            if self._database.dialect == "postgresql":
                await connection.execute(select(func.pg_advisory_xact_lock(LEASE_LOCK)))
            free = (await connection.execute(_free(self._owner).limit(limit))).mappings().all()
            ids = [row["id"] for row in free]
            await _set(connection, ids, claimed_by=self._owner, claimed_until=_lease_end())
            uuids = list({row["uuid"] for row in free})
            found = await read_by(connection, entries.c.uuid, uuids)
        by_uuid = {entry.uuid: entry for entry in found}
        return [
            OutboxItem(
                row["id"],
                row["uuid"],
                EntryKind(row["kind"]),
                row["collection"],
                by_uuid.get(row["uuid"]),
            )
            for row in free
        ]

    async def renew(self) -> None:
        """Extend the leases of this process."""
        is_ours = outbox.c.claimed_by == self._owner
        async with self._database.writing("renew leases", durable=False) as connection:
            await connection.execute(
                update(outbox).where(is_ours).values(claimed_until=_lease_end())
            )

    async def release(self, *, everybody: bool = False) -> None:
        """End the leases of this process, or of every process."""
        claimed_by = outbox.c.claimed_by
        condition = claimed_by.is_not(None) if everybody else claimed_by == self._owner
        free = {"claimed_by": None, "claimed_until": None}
        async with self._database.writing("release leases", durable=False) as connection:
            await connection.execute(update(outbox).where(condition).values(free))

    async def done(self, items: Sequence[OutboxItem]) -> None:
        """Delete the rows of items whose points were written.

        A row that another process leased after ours ran out is enqueued again: which of the two
        wrote last is unknown.
        """
        async with self._database.writing("clear the outbox", durable=False) as connection:
            deleted: set[int] = set()
            for ids in id_batches([item.outbox_id for item in items]):
                is_ours = and_(outbox.c.id.in_(ids), outbox.c.claimed_by == self._owner)
                rows = await connection.execute(
                    delete(outbox).where(is_ours).returning(outbox.c.id)
                )
                deleted |= set(rows.scalars())
            lost = [vars(item) for item in items if item.outbox_id not in deleted]
            await writing.enqueue(connection, lost)
            for uuids in id_batches([item.uuid for item in items]):
                is_parked = and_(outbox.c.uuid.in_(uuids), outbox.c.problem.is_not(None))
                await connection.execute(delete(outbox).where(is_parked))

    async def enqueue(self, uuids: Sequence[str], kind: EntryKind, collection: str) -> None:
        """Have the points of these entries written again, or deleted where the entry is gone."""
        rows = [{"uuid": uuid, "kind": kind.value, "collection": collection} for uuid in uuids]
        async with self._database.writing("fill the outbox") as connection:
            await writing.enqueue(connection, rows)

    async def pending(self, uuids: Sequence[str] | None = None) -> int:
        """Count the rows that wait, of these entries or of all; parked rows do not count."""
        query = select(func.count()).select_from(outbox).where(outbox.c.problem.is_(None))
        if uuids is not None:
            query = query.where(outbox.c.uuid.in_(uuids))
        async with self._database.reading("read the outbox") as connection:
            return await connection.scalar(query) or 0

    async def park(self, item: OutboxItem, problem: str) -> None:
        """Mark a leased row that can never be written, so that it does not hold up the others."""
        values = {"claimed_by": None, "claimed_until": None, "problem": problem}
        async with self._database.writing("park an outbox row") as connection:
            await _set(connection, [item.outbox_id], **values)

    async def retry_parked(self) -> None:
        """Have parked rows leased again."""
        is_parked = outbox.c.problem.is_not(None)
        async with self._database.writing("fill the outbox", durable=False) as connection:
            await connection.execute(update(outbox).where(is_parked).values(problem=None))


def _free(owner: str) -> Select[tuple[int]]:
    """Select the rows whose entries no other process has leased, the oldest first."""
    others = outbox.alias("others")
    now = utc_now()
    latest = now + timedelta(seconds=LATEST_END * LEASE_SECONDS)
    is_leased = exists().where(
        others.c.uuid == outbox.c.uuid,
        others.c.claimed_by != owner,
        others.c.claimed_until > moment(now),
        others.c.claimed_until < moment(latest),
    )
    return select(outbox).where(~is_leased, outbox.c.problem.is_(None)).order_by(outbox.c.id)


async def _set(connection: AsyncConnection, ids: Sequence[int], **values: str | None) -> None:
    for batch in id_batches(ids):
        await connection.execute(update(outbox).where(outbox.c.id.in_(batch)).values(values))


def _lease_end() -> str:
    return moment(utc_now() + timedelta(seconds=LEASE_SECONDS))
