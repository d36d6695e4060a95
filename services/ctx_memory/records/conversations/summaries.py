"""Summaries in SQL: of conversations, of hierarchies and of the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.clock import utc_now
from ctx_memory.records import reading, writing
from ctx_memory.records.database import Database, Dialect, insert_into
from ctx_memory.records.entry import Change, Draft, EntryKind, moment
from ctx_memory.records.tables import conversations, entries, summaries

SUMMARY_SOURCE = "summary"  # the source of the entry that makes a summary searchable


class SummaryLevel(StrEnum):
    """The extent of a summary: one conversation, a parent's children, or all parents."""

    CONVERSATION = "context"
    HIERARCHY = "hierarchy"
    META = "meta"


@dataclass(frozen=True)
class SummaryDraft:
    """A summary to store."""

    text: str
    written_by: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Coverage:
    """The messages that a summary adds: after the id `after`, up to `through`, with counts."""

    after: int
    through: int
    messages: int
    tokens: int
    important: int


@dataclass(frozen=True)
class Summary:
    """A stored summary."""

    level: SummaryLevel
    id: str
    text: str
    written_by: str
    version: int
    updated_at: str
    details: Mapping[str, Any]


class SummaryRecords:
    """Keeps summaries. Every method is one transaction, and raises StorageFailed.

    `collection` is the Qdrant collection that holds the points of conversations' summaries.
    """

    def __init__(self, database: Database, collection: str) -> None:
        self._database = database
        self._collection = collection

    async def save(
        self, conversation: str, draft: SummaryDraft, coverage: Coverage
    ) -> Summary | None:
        """Save a conversation's summary and take the messages that it covers off the counters.

        None, and nothing is saved, where another process summarised it meanwhile.
        """
        dialect, level = self._database.dialect, SummaryLevel.CONVERSATION
        async with self._database.writing("save a summary") as connection:
            if not await _cover(connection, conversation, coverage):
                return None
            text, now = draft.text, moment(utc_now())
            await make_searchable(connection, dialect, conversation, text, self._collection)
            return await save(connection, dialect, level, conversation, draft, now)

    async def save_rollup(self, level: SummaryLevel, id_: str, draft: SummaryDraft) -> Summary:
        """Save a summary of summaries."""
        async with self._database.writing("save a summary") as connection:
            now = moment(utc_now())
            return await save(connection, self._database.dialect, level, id_, draft, now)

    async def get(self, level: SummaryLevel, ids: Sequence[str]) -> dict[str, Summary]:
        """Return the summaries of a level by id; a cleanup's conversations are left out."""
        async with self._database.reading("read summaries") as connection:
            return await read(connection, level, ids)

    async def ids(self, level: SummaryLevel) -> list[str]:
        """Return the ids that have a summary of this level, the newest first."""
        async with self._database.reading("list summaries") as connection:
            return await ids(connection, level)


async def _cover(connection: AsyncConnection, conversation: str, coverage: Coverage) -> bool:
    """Take covered messages off the counters; False where another process did so meanwhile."""
    columns = conversations.c
    counted = {
        "summarised_through": coverage.through,
        "fresh_messages": columns.fresh_messages - coverage.messages,
        "fresh_tokens": columns.fresh_tokens - coverage.tokens,
        "fresh_important": columns.fresh_important - coverage.important,
    }
    is_unchanged = columns.id == conversation, columns.summarised_through == coverage.after
    done = await connection.execute(update(conversations).where(*is_unchanged).values(counted))
    return done.rowcount > 0


async def save(
    connection: AsyncConnection,
    dialect: Dialect,
    level: SummaryLevel,
    id_: str,
    draft: SummaryDraft,
    now: str,
    version: int = 1,
) -> Summary:
    """Save a summary; where there is one already, replace it and raise its version."""
    values = {
        "text": draft.text,
        "written_by": draft.written_by,
        "updated_at": now,
        "details": dict(draft.details),
    }
    fresh = insert_into(summaries, dialect).values(
        level=level.value, id=id_, version=version, **values
    )
    changed: dict[str, Any] = {**values, "version": summaries.c.version + 1}
    upsert = fresh.on_conflict_do_update(index_elements=["level", "id"], set_=changed)
    row = (await connection.execute(upsert.returning(summaries))).mappings().one()
    return _summary(row)


async def make_searchable(
    connection: AsyncConnection, dialect: Dialect, conversation: str, text: str, collection: str
) -> None:
    """Keep the summary as an entry beside the messages, so that searches find it."""
    query = select(entries.c.id).where(
        entries.c.kind == EntryKind.MESSAGE.value,
        entries.c.thread == conversation,
        entries.c.source == SUMMARY_SOURCE,
    )
    known = await connection.scalar(query.limit(1))
    if known is not None:
        change = Change(known, text=text)
        await writing.change(connection, dialect, [change], EntryKind.MESSAGE)
        return
    draft = Draft(EntryKind.MESSAGE, collection, text, thread=conversation, source=SUMMARY_SOURCE)
    await writing.add(connection, dialect, [draft], merge_repeats=False)


async def read(
    connection: AsyncConnection, level: SummaryLevel, ids: Sequence[str]
) -> dict[str, Summary]:
    """Return the summaries of a level by id; those of removed conversations are left out."""
    found: dict[str, Summary] = {}
    for batch in reading.id_batches(ids):
        query = select(summaries).where(summaries.c.level == level.value, summaries.c.id.in_(batch))
        rows = await connection.execute(query.where(summaries.c.id.not_in(removed())))
        found |= {row["id"]: _summary(row) for row in rows.mappings()}
    return found


async def ids(connection: AsyncConnection, level: SummaryLevel) -> list[str]:
    """Return the ids that have a summary of this level, the newest first."""
    query = select(summaries.c.id).where(
        summaries.c.level == level.value, summaries.c.id.not_in(removed())
    )
    rows = await connection.execute(query.order_by(summaries.c.updated_at.desc(), summaries.c.id))
    return list(rows.scalars())


def removed() -> Any:
    """Return a query for the conversations that a cleanup removed."""
    return select(conversations.c.id).where(conversations.c.removed_at.is_not(None))


def _summary(row: RowMapping) -> Summary:
    values = {name: row[name] for name in Summary.__dataclass_fields__}
    return Summary(**values | {"level": SummaryLevel(row["level"])})
