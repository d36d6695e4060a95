"""The record store: entries and the outbox in one SQL database, the source of truth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select, text, update

from ctx_core.blocking import COMPUTE
from ctx_core.settings.memory import DEFAULT_INDEXED_FIELDS
from ctx_memory.records import counts, leases, passages, reading, writing
from ctx_memory.records.database import Database, Dialect
from ctx_memory.records.explain import query_plan
from ctx_memory.records.filters import where
from ctx_memory.records.filters.indexes import index_metadata
from ctx_memory.records.fulltext import ensure_full_text, full_text_query, highlighter
from ctx_memory.records.fulltext.highlight import Highlighter
from ctx_memory.records.leases import LEASE_SECONDS
from ctx_memory.records.migrate import migrate
from ctx_memory.records.private import PrivateRecords
from ctx_memory.records.sqlite_statistics import write_statistics
from ctx_memory.records.tables import deleted_entries, entries, outbox
from ctx_memory.records.types import (
    AddedEntry,
    Change,
    ChangedEntry,
    Criteria,
    Draft,
    Entry,
    EntryKind,
    Image,
    OutboxItem,
    Passage,
    Statistics,
    TextHit,
    TextMode,
    ThreadSummary,
)

__all__ = ["LEASE_SECONDS", "Records"]

DEFAULT_LANGUAGE = "english"
OPEN_TIMEOUT_SECONDS = 600.0  # another process may be migrating a large database
NEWEST_FIRST = (entries.c.created_at.desc(), entries.c.id.desc())


class Records:
    """Entries and the outbox. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database, language: str, indexed_fields: Sequence[str]) -> None:
        self._database = database
        self._language = language
        self._indexed_fields = indexed_fields
        self._owner = str(uuid4())  # names our leases on the outbox
        self.private = PrivateRecords(database)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        indexed_fields: Sequence[str] = DEFAULT_INDEXED_FIELDS,
        language: str = DEFAULT_LANGUAGE,
    ) -> "Records":
        """Connect, migrate, and create indexes that are missing. Raises SettingsInvalid too."""
        database = Database(url)
        try:
            async with database.writing(
                "prepare the tables", wait_seconds=OPEN_TIMEOUT_SECONDS
            ) as connection:
                await migrate(database, connection)
                await index_metadata(connection, database.dialect, indexed_fields)
                await ensure_full_text(connection, database.dialect, language)
                if database.dialect == "sqlite":
                    await write_statistics(connection)
        except BaseException:
            await database.close()
            raise
        return cls(database, language, indexed_fields)

    @property
    def database(self) -> Database:
        return self._database

    @property
    def dialect(self) -> Dialect:
        return self._database.dialect

    def connections(self) -> dict[str, dict[str, int]]:
        """Return the size and use of each connection pool."""
        return self._database.connections()

    async def close(self) -> None:
        await self._database.close()

    async def ping(self) -> None:
        """Run a query. Raises StorageFailed where the database does not answer."""
        async with self._database.reading("run a query") as connection:
            await connection.execute(text("SELECT 1"))

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

    async def set_summaries(self, summaries: Sequence[tuple[Entry, str]], by: str) -> None:
        """Set summaries written by `by`, except of entries whose text has changed since.

        It raises no revision, and a power cut may undo it: the worker writes it again.
        """
        same_text = and_(
            entries.c.id == bindparam("entry_id"), entries.c.content_hash == bindparam("digest")
        )
        values = {"summary": bindparam("new_summary"), "summary_by": by}
        rows = [
            {"entry_id": entry.id, "digest": entry.content_hash, "new_summary": summary}
            for entry, summary in summaries
        ]
        statement = update(entries).where(same_text).values(values)
        async with self._database.writing("set summaries", durable=False) as connection:
            await connection.execute(statement, rows)

    # --- reading ---------------------------------------------------------------------------

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

    async def matching_ids(self, ids: Sequence[int], criteria: Criteria) -> set[int]:
        """Return those of the ids whose entries meet the criteria."""
        found: set[int] = set()
        async with self._database.reading("read entries") as connection:
            for batch in reading.id_batches(ids):
                conditions = entries.c.id.in_(batch), self._where(criteria)
                rows = await connection.execute(select(entries.c.id).where(*conditions))
                found |= set(rows.scalars())
        return found

    async def surroundings(
        self, ids: Sequence[int], criteria: Criteria, reach: int
    ) -> tuple[dict[int, Mapping[int, int]], dict[int, Passage]]:
        """Return the neighbours of entries, and the passages of all of them."""
        async with self._database.reading("read entries") as connection:
            beside = await passages.neighbours(connection, ids, criteria.kind, reach)
            every = {*ids, *(other for each in beside.values() for other in each.values())}
            condition = self._where(criteria)
            return beside, await passages.passages(connection, sorted(every), condition)

    async def images(self, ids: Sequence[int]) -> dict[int, list[Image]]:
        async with self._database.reading("read images") as connection:
            return await reading.images_of(connection, ids)

    async def select(self, criteria: Criteria, limit: int, offset: int = 0) -> list[Entry]:
        """Return the newest entries that meet the criteria, newest first.

        Ids are sorted before texts are read, which halves the time.
        """
        ids = select(entries.c.id).where(self._where(criteria)).order_by(*NEWEST_FIRST)
        page = ids.limit(limit).offset(offset).subquery()
        query = select(entries).join(page, page.c.id == entries.c.id).order_by(*NEWEST_FIRST)
        async with self._database.reading("read entries") as connection:
            return await reading.read(connection, query)

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

    async def full_text(
        self,
        query: str,
        mode: TextMode,
        criteria: Criteria,
        limit: int,
        offset: int = 0,
        *,
        highlight: bool,
        any_word: bool = False,
    ) -> tuple[list[TextHit], list[str]]:
        """Return the best hits that meet the criteria, and warnings about the query.

        All words must occur, or one of them with `any_word`.
        """
        statement, warnings = self._full_text_query(query, mode, criteria, limit, offset, any_word)
        async with self._database.reading("search by words") as connection:
            rows = (await connection.execute(statement)).mappings().all()
            found = await reading.with_tags(connection, rows)
        hits = [TextHit(entry, float(row["score"])) for entry, row in zip(found, rows, strict=True)]
        if highlight:
            marks = highlighter(query, mode, self.dialect, self._language, any_word)
            hits = await COMPUTE.run(_highlighted, hits, marks)
        return hits, warnings

    async def rank_by_words(
        self, query: str, criteria: Criteria, limit: int
    ) -> tuple[list[tuple[int, float]], list[str]]:
        """Return (id, score) of the best entries with any of the words, and warnings."""
        statement, warnings = self._full_text_query(query, TextMode.MATCH, criteria, limit, 0, True)
        columns = statement.selected_columns
        scores = statement.with_only_columns(columns.id, columns.score, maintain_column_froms=True)
        async with self._database.reading("search by words") as connection:
            rows = await connection.execute(scores)
            return [(id_, float(score)) for id_, score in rows], warnings

    async def explain(self, criteria: Criteria) -> list[str]:
        """Return the database's plan for `select` with these criteria."""
        query = select(entries.c.id).where(self._where(criteria)).order_by(*NEWEST_FIRST)
        async with self._database.reading("explain a query") as connection:
            return await query_plan(connection, query)

    async def explain_full_text(
        self, query: str, mode: TextMode, criteria: Criteria, limit: int, offset: int
    ) -> list[str]:
        """Return the database's plan for `full_text` with these arguments."""
        statement, _ = self._full_text_query(query, mode, criteria, limit, offset, False)
        async with self._database.reading("explain a query") as connection:
            return await query_plan(connection, statement)

    async def unsummarised(
        self, kind: EntryKind, min_length: int, limit: int, after: int = 0
    ) -> list[Entry]:
        """Return entries with an id above `after` that need a summary, oldest first."""
        query = select(entries).where(entries.c.id > after, _lacks_summary(kind, min_length))
        async with self._database.reading("read entries") as connection:
            return await reading.read(connection, query.order_by(entries.c.id).limit(limit))

    async def page(self, kind: EntryKind, limit: int, after: int = 0) -> list[Entry]:
        """Return entries with an id above `after`, oldest first."""
        query = select(entries).where(entries.c.id > after, entries.c.kind == kind.value)
        async with self._database.reading("read entries") as connection:
            return await reading.read(connection, query.order_by(entries.c.id).limit(limit))

    async def count_unsummarised(self, kind: EntryKind, min_length: int) -> int:
        """Count the entries of at least `min_length` characters that have no summary."""
        query = select(func.count()).select_from(entries).where(_lacks_summary(kind, min_length))
        async with self._database.reading("count entries") as connection:
            return await connection.scalar(query) or 0

    async def thread_list(
        self, kind: EntryKind = EntryKind.THREAD, limit: int | None = None, offset: int = 0
    ) -> tuple[list[ThreadSummary], int]:
        """Return a page of the threads, the most recently written first, and how many there are."""
        async with self._database.reading("list threads") as connection:
            page = await counts.threads(connection, kind, limit, offset)
            return page, await counts.count_threads(connection, kind)

    async def statistics(self, kind: EntryKind) -> Statistics:
        async with self._database.reading("count entries") as connection:
            return await counts.statistics(connection, self.dialect, kind)

    async def collection_counts(self, kind: EntryKind) -> dict[str, int]:
        """Count the entries of each collection."""
        async with self._database.reading("count entries") as connection:
            return await counts.collections(connection, kind)

    def _full_text_query(
        self,
        query: str,
        mode: TextMode,
        criteria: Criteria,
        limit: int,
        offset: int,
        any_word: bool,
    ) -> tuple[Select[Any], list[str]]:
        """Build the statement of a full-text search, and warnings about the query."""
        return full_text_query(
            query,
            mode,
            criteria,
            self.dialect,
            self._language,
            limit,
            offset,
            any_word,
            self._indexed_fields,
        )

    def _where(self, criteria: Criteria) -> ColumnElement[bool]:
        return where(criteria, self.dialect)

    # --- the outbox ------------------------------------------------------------------------

    async def lease(self, limit: int) -> Sequence[OutboxItem]:
        """Lease the oldest rows of the outbox that no other process holds."""
        async with self._database.writing("lease outbox rows", durable=False) as connection:
            return await leases.lease(connection, self.dialect, self._owner, limit)

    async def renew(self) -> None:
        """Extend the leases of this process."""
        async with self._database.writing("renew leases", durable=False) as connection:
            await leases.renew(connection, self._owner)

    async def done(self, items: Sequence[OutboxItem]) -> None:
        """Delete leased rows whose points were written."""
        async with self._database.writing("clear the outbox", durable=False) as connection:
            await leases.done(connection, self._owner, items)

    async def park(self, item: OutboxItem, problem: str) -> None:
        """Mark a leased row as one that can never be written, with the reason."""
        async with self._database.writing("park an outbox row") as connection:
            await leases.park(connection, item, problem)

    async def release(self, *, everybody: bool = False) -> None:
        """End the leases of this process, or of every process."""
        async with self._database.writing("release leases", durable=False) as connection:
            await leases.release(connection, None if everybody else self._owner)

    async def pending(self, uuids: Sequence[str] | None = None) -> int:
        """Count the rows that wait for Qdrant, of these entries or of all."""
        async with self._database.reading("read the outbox") as connection:
            return await leases.pending(connection, uuids)

    async def parked(self) -> list[tuple[str, str]]:
        """Return (uuid, problem) of the entries that Qdrant can never take."""
        query = select(outbox.c.uuid, outbox.c.problem).where(outbox.c.problem.is_not(None))
        async with self._database.reading("read the outbox") as connection:
            return [(row.uuid, row.problem) for row in await connection.execute(query)]

    async def retry_parked(self) -> None:
        """Have parked rows tried again."""
        async with self._database.writing("fill the outbox", durable=False) as connection:
            await leases.retry_parked(connection)

    async def revisions(self, kind: EntryKind, collection: str) -> dict[str, int]:
        """Return the revision of every entry of a collection, by uuid."""
        query = select(entries.c.uuid, entries.c.revision).where(
            entries.c.kind == kind.value, entries.c.collection == collection
        )
        async with self._database.reading("read entries") as connection:
            return {row.uuid: row.revision for row in await connection.execute(query)}

    async def deleted(self, uuids: Sequence[str]) -> set[str]:
        """Return those of these uuids whose entries were deleted."""
        query = select(deleted_entries.c.uuid)
        found: set[str] = set()
        async with self._database.reading("read deleted entries") as connection:
            for batch in reading.id_batches(uuids):
                rows = await connection.execute(query.where(deleted_entries.c.uuid.in_(batch)))
                found |= set(rows.scalars())
        return found

    async def enqueue(self, uuids: Sequence[str], kind: EntryKind, collection: str) -> None:
        """Have the points of these entries written again, or deleted where the entry is gone."""
        rows = [{"uuid": uuid, "kind": kind.value, "collection": collection} for uuid in uuids]
        async with self._database.writing("fill the outbox") as connection:
            await writing.enqueue(connection, rows)


def _lacks_summary(kind: EntryKind, min_length: int) -> ColumnElement[bool]:
    is_long = func.length(entries.c.text) >= min_length
    return and_(entries.c.kind == kind.value, entries.c.summary == "", is_long)


def _highlighted(hits: Sequence[TextHit], marks: Highlighter | None) -> list[TextHit]:
    """Mark the query's words in each hit; for long texts this takes milliseconds."""
    if marks is None:
        return list(hits)
    return [replace(hit, highlighted=marks.passages(hit.entry.text)) for hit in hits]
