"""The record store: what the memory server knows for certain, in one SQL database."""

from collections.abc import Sequence
from uuid import uuid4

from sqlalchemy import ColumnElement, and_, bindparam, func, select, text, update

from services.core.settings.memory import DEFAULT_INDEXED_FIELDS
from services.memory.records import counts, leases, reading, writing
from services.memory.records.database import Database, Dialect
from services.memory.records.explain import plan
from services.memory.records.filters import where
from services.memory.records.filters.indexes import index_metadata
from services.memory.records.fulltext import ensure_full_text, full_text_query
from services.memory.records.leases import LEASE_SECONDS
from services.memory.records.migrate import migrate
from services.memory.records.sqlite_statistics import write_statistics
from services.memory.records.tables import entries, outbox
from services.memory.records.types import (
    Change,
    Criteria,
    Draft,
    Due,
    Entry,
    EntryKind,
    Image,
    Statistics,
    TextHit,
    TextMode,
    ThreadSummary,
)

__all__ = ["LEASE_SECONDS", "Records"]

LANGUAGE = "english"
OPENING_PATIENCE_SECONDS = 600.0  # while another process migrates a large database
NEWEST = (entries.c.created_at.desc(), entries.c.id.desc())


class Records:
    """Entries and the outbox. Every method is one transaction."""

    def __init__(self, database: Database, language: str, indexed_fields: Sequence[str]) -> None:
        self._database = database
        self._language = language
        self._indexed_fields = indexed_fields
        self._owner = str(uuid4())  # whose claims on the outbox are ours

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        indexed_fields: Sequence[str] = DEFAULT_INDEXED_FIELDS,
        language: str = LANGUAGE,
    ) -> "Records":
        """Connect, and bring the database to what this version needs."""
        database = Database(url)
        try:
            async with database.writing(
                "prepare the tables", patience=OPENING_PATIENCE_SECONDS
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
    def dialect(self) -> Dialect:
        return self._database.dialect

    def connections(self) -> dict[str, dict[str, int]]:
        """How many connections there are for what, and how many of them are in use."""
        return self._database.connections()

    async def close(self) -> None:
        await self._database.close()

    async def ping(self) -> None:
        """Really ask the database."""
        async with self._database.reading("ask the database") as connection:
            await connection.execute(text("SELECT 1"))

    # --- writing ---------------------------------------------------------------------------

    async def add(self, drafts: Sequence[Draft]) -> list[tuple[int, str, bool]]:
        """(id, uuid, is it new?) of each: all are stored or none.

        A draft that repeats text and source of its thread's latest entry updates that entry.
        """
        async with self._database.writing("store entries") as connection:
            return await writing.add(connection, self.dialect, drafts)

    async def change(
        self, changes: Sequence[Change], kind: EntryKind
    ) -> list[tuple[int, list[str]]]:
        """(id, names of the changed fields) of each: all change or none.

        An unknown id raises EntryNotFound.
        """
        async with self._database.writing("change entries") as connection:
            return await writing.change(connection, self.dialect, changes, kind)

    async def remove(self, criteria: Criteria) -> int:
        """How many entries were removed."""
        async with self._database.writing("remove entries") as connection:
            return await writing.remove(connection, self._where(criteria))

    async def set_summaries(self, summaries: Sequence[tuple[Entry, str]], by: str) -> None:
        """Keep summaries, except where the text has changed since; they are no change of an entry.

        A lost one is written again.
        """
        same = (entries.c.id == bindparam("key")) & (entries.c.content_hash == bindparam("digest"))
        statement = update(entries).where(same).values(summary=bindparam("said"), summary_by=by)
        rows = [{"key": e.id, "digest": e.content_hash, "said": said} for e, said in summaries]
        async with self._database.writing("keep summaries", durable=False) as connection:
            await connection.execute(statement, rows)

    # --- reading ---------------------------------------------------------------------------

    async def get(self, ids: Sequence[int], kind: EntryKind) -> list[Entry]:
        """In the order asked; unknown ones are left out."""
        async with self._database.reading("read entries") as connection:
            found = await reading.among(connection, entries.c.id, ids, entries.c.kind == kind.value)
        by_id = {entry.id: entry for entry in found}
        return [by_id[each] for each in dict.fromkeys(ids) if each in by_id]

    async def get_by_uuid(self, uuids: Sequence[str], kind: EntryKind) -> list[Entry]:
        """In the order asked; unknown ones are left out."""
        return await self._by_uuid(uuids, entries.c.kind == kind.value)

    async def admit(self, ids: Sequence[int], criteria: Criteria) -> set[int]:
        """Those of the ids whose entries meet the criteria."""
        found: set[int] = set()
        async with self._database.reading("read entries") as connection:
            for part in reading.parts(ids):
                wanted = entries.c.id.in_(part), self._where(criteria)
                rows = await connection.execute(select(entries.c.id).where(*wanted))
                found |= set(rows.scalars())
        return found

    async def images(self, ids: Sequence[int]) -> dict[int, list[Image]]:
        async with self._database.reading("read images") as connection:
            return await reading.images_of(connection, ids)

    async def select(self, criteria: Criteria, limit: int, offset: int = 0) -> list[Entry]:
        """The newest first. Ids are sorted before texts are read, which halves the time."""
        ids = select(entries.c.id).where(self._where(criteria)).order_by(*NEWEST)
        page = ids.limit(limit).offset(offset).subquery()
        query = select(entries).join(page, page.c.id == entries.c.id).order_by(*NEWEST)
        async with self._database.reading("read entries") as connection:
            return await reading.read(connection, query)

    async def count(self, criteria: Criteria) -> int:
        query = select(func.count()).select_from(entries).where(self._where(criteria))
        async with self._database.reading("count entries") as connection:
            return await connection.scalar(query) or 0

    async def identify(self, criteria: Criteria, limit: int) -> list[tuple[int, str]]:
        """(id, uuid) of the entries that meet the criteria, the oldest first."""
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
        """The best hits among what the criteria admit, and warnings about how it was read."""
        wanted, warnings = full_text_query(
            query,
            mode,
            criteria,
            self.dialect,
            self._language,
            limit,
            offset,
            highlight,
            any_word,
            self._indexed_fields,
        )
        async with self._database.reading("search by words") as connection:
            rows = (await connection.execute(wanted)).mappings().all()
            found = await reading.with_tags(connection, rows)
        hits = [
            TextHit(entry, float(row["score"]), row["highlighted"])
            for entry, row in zip(found, rows, strict=True)
        ]
        return hits, warnings

    async def ranked_by_words(
        self, query: str, criteria: Criteria, limit: int
    ) -> tuple[list[tuple[int, float]], list[str]]:
        """(id, score) of the best entries that have any of the words; and warnings."""
        wanted, warnings = full_text_query(
            query,
            TextMode.MATCH,
            criteria,
            self.dialect,
            self._language,
            limit,
            0,
            False,
            True,
            self._indexed_fields,
        )
        columns = wanted.selected_columns
        bare = wanted.with_only_columns(columns.id, columns.score, maintain_column_froms=True)
        async with self._database.reading("search by words") as connection:
            rows = await connection.execute(bare)
            return [(id_, float(score)) for id_, score in rows], warnings

    async def explain(self, criteria: Criteria) -> list[str]:
        """The steps by which the database would `select`."""
        query = select(entries.c.id).where(self._where(criteria)).order_by(*NEWEST)
        async with self._database.reading("explain a query") as connection:
            return await plan(connection, query)

    async def unsummarised(
        self, kind: EntryKind, min_length: int, limit: int, after: int = 0
    ) -> list[Entry]:
        """The oldest entries after this id that are long enough for a summary and have none."""
        query = select(entries).where(entries.c.id > after, _lacks_summary(kind, min_length))
        async with self._database.reading("read entries") as connection:
            return await reading.read(connection, query.order_by(entries.c.id).limit(limit))

    async def count_unsummarised(self, kind: EntryKind, min_length: int) -> int:
        """How many are long enough for a summary and have none."""
        query = select(func.count()).select_from(entries).where(_lacks_summary(kind, min_length))
        async with self._database.reading("count entries") as connection:
            return await connection.scalar(query) or 0

    async def thread_list(self, kind: EntryKind = EntryKind.THREAD) -> list[ThreadSummary]:
        async with self._database.reading("list threads") as connection:
            return await counts.threads(connection, kind)

    async def statistics(self, kind: EntryKind) -> Statistics:
        async with self._database.reading("count entries") as connection:
            return await counts.statistics(connection, self.dialect, kind)

    async def counts(self, kind: EntryKind) -> dict[str, int]:
        """How many entries each collection holds."""
        async with self._database.reading("count entries") as connection:
            return await counts.collections(connection, kind)

    async def _by_uuid(self, uuids: Sequence[str], condition: ColumnElement[bool]) -> list[Entry]:
        async with self._database.reading("read entries") as connection:
            found = await reading.among(connection, entries.c.uuid, uuids, condition)
        by_uuid = {entry.uuid: entry for entry in found}
        return [by_uuid[each] for each in dict.fromkeys(uuids) if each in by_uuid]

    def _where(self, criteria: Criteria) -> ColumnElement[bool]:
        return where(criteria, self.dialect)

    # --- the outbox ------------------------------------------------------------------------

    async def due(self, limit: int) -> Sequence[Due]:
        """Claim the oldest changes that nobody else carries to Qdrant."""
        async with self._database.writing("read the outbox", durable=False) as connection:
            return await leases.claim(connection, self.dialect, self._owner, limit)

    async def renew(self) -> None:
        """Keep what is claimed for longer."""
        async with self._database.writing("renew claims", durable=False) as connection:
            await leases.renew(connection, self._owner)

    async def done(self, due: Sequence[Due]) -> None:
        """What was claimed is carried."""
        async with self._database.writing("clear the outbox", durable=False) as connection:
            await leases.done(connection, self._owner, due)

    async def park(self, due: Due, problem: str) -> None:
        """What was claimed can never be written: it waits for somebody to look at it."""
        async with self._database.writing("put an entry aside") as connection:
            await leases.park(connection, due, problem)

    async def release(self, *, everybody: bool = False) -> None:
        """Give up our claims; everybody's when no other process can be at work."""
        async with self._database.writing("release claims", durable=False) as connection:
            await leases.release(connection, None if everybody else self._owner)

    async def pending(self, uuids: Sequence[str] | None = None) -> int:
        """How many changes wait for Qdrant, of these entries or of all."""
        async with self._database.reading("read the outbox") as connection:
            return await leases.pending(connection, uuids)

    async def parked(self) -> list[tuple[str, str]]:
        """(uuid, problem) of what cannot be written."""
        query = select(outbox.c.uuid, outbox.c.problem).where(outbox.c.problem.is_not(None))
        async with self._database.reading("read the outbox") as connection:
            return [(row.uuid, row.problem) for row in await connection.execute(query)]

    async def retry_parked(self) -> None:
        """Give what could not be written another chance."""
        async with self._database.writing("fill the outbox", durable=False) as connection:
            await leases.retry_parked(connection)

    async def revisions(self, kind: EntryKind, collection: str) -> dict[str, int]:
        """The revision of every entry of a collection, by uuid."""
        query = select(entries.c.uuid, entries.c.revision).where(
            entries.c.kind == kind.value, entries.c.collection == collection
        )
        async with self._database.reading("read entries") as connection:
            return {row.uuid: row.revision for row in await connection.execute(query)}

    async def enqueue(self, uuids: Sequence[str], kind: EntryKind, collection: str) -> None:
        """Have the points of these entries written again, or deleted where the entry is gone."""
        rows = [{"uuid": uuid, "kind": kind.value, "collection": collection} for uuid in uuids]
        async with self._database.writing("fill the outbox") as connection:
            await writing.enqueue(connection, rows)


def _lacks_summary(kind: EntryKind, min_length: int) -> ColumnElement[bool]:
    is_long = func.length(entries.c.text) >= min_length
    return and_(entries.c.kind == kind.value, entries.c.summary == "", is_long)
