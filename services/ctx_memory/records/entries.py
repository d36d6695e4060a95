"""Entries in SQL: written, read and counted by id, by uuid and by criteria."""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, func, select

from ctx_memory.records import passages, reading, writing
from ctx_memory.records.database import Database, Dialect
from ctx_memory.records.entry import (
    AddedEntry,
    Change,
    ChangedEntry,
    Criteria,
    Draft,
    Entry,
    EntryKind,
    Image,
)
from ctx_memory.records.filters import where
from ctx_memory.records.passages import Passage
from ctx_memory.records.tables import deleted_entries, entries

NEWEST_FIRST = (entries.c.created_at.desc(), entries.c.id.desc())


class EntryRecords:
    """Keeps entries. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def dialect(self) -> Dialect:
        return self._database.dialect

    # --- writing ---------------------------------------------------------------------------

    async def add(self, drafts: Sequence[Draft]) -> list[AddedEntry]:
        """Store all drafts or none; return the entry of each, in their order.

        A draft that repeats text and source of its thread's latest entry updates that entry.
        """
        async with self._database.writing("store entries") as connection:
            return await writing.add(connection, self.dialect, drafts)

    async def change(self, changes: Sequence[Change], kind: EntryKind) -> list[ChangedEntry]:
        """Make all changes or none. Raises EntryNotFound for an unknown id."""
        async with self._database.writing("change entries") as connection:
            return await writing.change(connection, self.dialect, changes, kind)

    async def supersede(self, draft: Draft, change: Change) -> AddedEntry:
        """Store a draft and change the entry that it supersedes: both or neither."""
        async with self._database.writing("store entries") as connection:
            [added] = await writing.add(connection, self.dialect, [draft])
            await writing.change(connection, self.dialect, [change], draft.kind)
            return added

    async def remove(self, criteria: Criteria) -> int:
        """Remove the entries that meet the criteria; return how many."""
        async with self._database.writing("remove entries") as connection:
            return await writing.remove(connection, self._where(criteria))

    # --- by id -----------------------------------------------------------------------------

    async def get(self, ids: Sequence[int], kind: EntryKind) -> list[Entry]:
        """Return entries in the order of the ids; unknown ids are left out."""
        of_kind = entries.c.kind == kind.value
        async with self._database.reading("read entries") as connection:
            found = await reading.read_by(connection, entries.c.id, ids, of_kind)
        by_id = {entry.id: entry for entry in found}
        return [by_id[each] for each in dict.fromkeys(ids) if each in by_id]

    async def get_by_uuid(self, uuids: Sequence[str], kind: EntryKind) -> list[Entry]:
        """Return entries in the order of the uuids; unknown uuids are left out."""
        of_kind = entries.c.kind == kind.value
        async with self._database.reading("read entries") as connection:
            found = await reading.read_by(connection, entries.c.uuid, uuids, of_kind)
        by_uuid = {entry.uuid: entry for entry in found}
        return [by_uuid[each] for each in dict.fromkeys(uuids) if each in by_uuid]

    async def images(self, ids: Sequence[int]) -> dict[int, list[Image]]:
        async with self._database.reading("read images") as connection:
            return await reading.images_of(connection, ids)

    async def surroundings(
        self, ids: Sequence[int], criteria: Criteria, reach: int
    ) -> tuple[dict[int, Mapping[int, int]], dict[int, Passage]]:
        """Return the neighbours of entries, and the passages of all of them."""
        async with self._database.reading("read entries") as connection:
            beside = await passages.neighbours(connection, ids, criteria.kind, reach)
            every = {*ids, *(other for each in beside.values() for other in each.values())}
            condition = self._where(criteria)
            return beside, await passages.passages(connection, sorted(every), condition)

    async def deleted(self, uuids: Sequence[str]) -> set[str]:
        """Return the uuids whose entries were deleted."""
        query = select(deleted_entries.c.uuid)
        found: set[str] = set()
        async with self._database.reading("read deleted entries") as connection:
            for batch in reading.id_batches(uuids):
                rows = await connection.execute(query.where(deleted_entries.c.uuid.in_(batch)))
                found |= set(rows.scalars())
        return found

    # --- by criteria -----------------------------------------------------------------------

    async def select(self, criteria: Criteria, limit: int, offset: int = 0) -> list[Entry]:
        """Return the newest entries that meet the criteria, newest first.

        Ids are sorted before texts are read, which halves the time.
        """
        ids = select(entries.c.id).where(self._where(criteria)).order_by(*NEWEST_FIRST)
        page = ids.limit(limit).offset(offset).subquery()
        query = select(entries).join(page, page.c.id == entries.c.id).order_by(*NEWEST_FIRST)
        async with self._database.reading("read entries") as connection:
            return await reading.read(connection, query)

    async def explain(self, criteria: Criteria) -> list[str]:
        """Return the database's plan for `select` with these criteria."""
        query = select(entries.c.id).where(self._where(criteria)).order_by(*NEWEST_FIRST)
        async with self._database.reading("explain a query") as connection:
            return await reading.query_plan(connection, query)

    async def page(self, kind: EntryKind, limit: int, after: int = 0) -> list[Entry]:
        """Return entries with an id above `after`, oldest first."""
        query = select(entries).where(entries.c.id > after, entries.c.kind == kind.value)
        async with self._database.reading("read entries") as connection:
            return await reading.read(connection, query.order_by(entries.c.id).limit(limit))

    async def count(self, criteria: Criteria) -> int:
        query = select(func.count()).select_from(entries).where(self._where(criteria))
        async with self._database.reading("count entries") as connection:
            return await connection.scalar(query) or 0

    async def identify(self, criteria: Criteria, limit: int) -> list[tuple[int, str]]:
        """Return (id, uuid) of the entries that meet the criteria, oldest first."""
        query = select(entries.c.id, entries.c.uuid).where(self._where(criteria))
        async with self._database.reading("read entries") as connection:
            rows = await connection.execute(query.order_by(entries.c.id).limit(limit))
            return [(id_, uuid) for id_, uuid in rows]

    async def matching_ids(self, ids: Sequence[int], criteria: Criteria) -> set[int]:
        """Return the ids whose entries meet the criteria."""
        found: set[int] = set()
        async with self._database.reading("read entries") as connection:
            for batch in reading.id_batches(ids):
                conditions = entries.c.id.in_(batch), self._where(criteria)
                rows = await connection.execute(select(entries.c.id).where(*conditions))
                found |= set(rows.scalars())
        return found

    async def revisions(self, kind: EntryKind, collection: str) -> dict[str, int]:
        """Return the revision of every entry of a collection, by uuid."""
        query = select(entries.c.uuid, entries.c.revision).where(
            entries.c.kind == kind.value, entries.c.collection == collection
        )
        async with self._database.reading("read entries") as connection:
            return {row.uuid: row.revision for row in await connection.execute(query)}

    def _where(self, criteria: Criteria) -> ColumnElement[bool]:
        return where(criteria, self.dialect)
