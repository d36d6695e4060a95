"""Conversations in SQL: their counters, which are due for a summary, and cleanups."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, or_, select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.clock import utc_now
from ctx_memory.records import reading, writing
from ctx_memory.records.conversations.summaries import SummaryLevel
from ctx_memory.records.database import Database
from ctx_memory.records.entry import EntryKind, moment
from ctx_memory.records.tables import conversations, entries, relations, summaries

IS_LIVE = conversations.c.removed_at.is_(None)


@dataclass(frozen=True)
class Conversation:
    """A conversation and its counters; `fresh_*` count messages after its summary."""

    id: str
    messages: int
    important: int
    fresh_messages: int
    fresh_tokens: int
    fresh_important: int
    summarised_through: int
    updated_at: str


@dataclass(frozen=True)
class SummaryThresholds:
    """How much must be added to a conversation before it is summarised again."""

    messages: int
    tokens: int
    important: int

    def are_met_by(self, conversation: Conversation) -> bool:
        return (
            conversation.fresh_messages >= self.messages
            or conversation.fresh_tokens >= self.tokens
            or conversation.fresh_important >= self.important
        )


class ConversationRecords:
    """Keeps conversations. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, id_: str) -> Conversation | None:
        """Return a conversation that no cleanup removed."""
        async with self._database.reading("read a conversation") as connection:
            return await read(connection, id_)

    async def all(self) -> list[Conversation]:
        """Return all conversations, the most recently changed first."""
        order = conversations.c.updated_at.desc(), conversations.c.id
        query = select(conversations).where(IS_LIVE).order_by(*order)
        async with self._database.reading("list conversations") as connection:
            return [conversation_of(row) for row in (await connection.execute(query)).mappings()]

    async def due(self, thresholds: SummaryThresholds) -> list[str]:
        """Return the conversations that need a summary, the longest unchanged first."""
        is_due = or_(
            conversations.c.fresh_messages >= thresholds.messages,
            conversations.c.fresh_tokens >= thresholds.tokens,
            conversations.c.fresh_important >= thresholds.important,
        )
        query = select(conversations.c.id).where(is_due, IS_LIVE)
        async with self._database.reading("list conversations") as connection:
            rows = await connection.execute(query.order_by(conversations.c.updated_at))
            return list(rows.scalars())

    async def remove(self, ids: Sequence[str], kept: str, unchanged_since: datetime) -> list[str]:
        """Hide conversations that nobody wrote to since a time; return their ids.

        `kept` is the conversation that the cleanup was asked for; `restore` takes it.
        """
        found: list[str] = []
        removed = {"removed_at": moment(utc_now()), "removed_for": kept}
        async with self._database.writing("remove conversations") as connection:
            for batch in reading.id_batches(ids):
                is_unused = (
                    conversations.c.id.in_(batch),
                    IS_LIVE,
                    conversations.c.updated_at < moment(unchanged_since),
                )
                change = update(conversations).where(*is_unused).values(removed)
                rows = await connection.execute(change.returning(conversations.c.id))
                found += rows.scalars()
        return sorted(found)

    async def restore(self, kept: str) -> list[str]:
        """Bring back the conversations that cleanups for this one removed; return their ids."""
        change = (
            update(conversations)
            .where(conversations.c.removed_for == kept)
            .values(removed_at=None, removed_for=None)
            .returning(conversations.c.id)
        )
        async with self._database.writing("restore conversations") as connection:
            return sorted((await connection.execute(change)).scalars())

    async def purge(self, removed_before: datetime) -> list[str]:
        """Delete conversations removed before a time, with messages, summaries and relations."""
        is_old = conversations.c.removed_at < moment(removed_before)
        query = select(conversations.c.id).where(is_old).with_for_update()
        async with self._database.writing("delete old conversations") as connection:
            found = list((await connection.execute(query)).scalars())
            for batch in reading.id_batches(found):
                await _delete(connection, batch)
        return found


async def read(connection: AsyncConnection, id_: str) -> Conversation | None:
    """Return a conversation that no cleanup removed."""
    query = select(conversations).where(conversations.c.id == id_, IS_LIVE)
    row = (await connection.execute(query)).mappings().one_or_none()
    return None if row is None else conversation_of(row)


def conversation_of(row: RowMapping) -> Conversation:
    return Conversation(**{name: row[name] for name in Conversation.__dataclass_fields__})


async def _delete(connection: AsyncConnection, ids: Sequence[str]) -> None:
    is_message = entries.c.kind == EntryKind.MESSAGE.value
    await writing.remove(connection, is_message & entries.c.thread.in_(ids))
    of_conversations = summaries.c.level != SummaryLevel.META.value
    await connection.execute(delete(summaries).where(of_conversations, summaries.c.id.in_(ids)))
    ends = or_(relations.c.source.in_(ids), relations.c.target.in_(ids))
    await connection.execute(delete(relations).where(ends))
    await connection.execute(delete(conversations).where(conversations.c.id.in_(ids)))
