"""Messages of conversations in SQL: added, counted, read page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.clock import utc_now
from ctx_memory.records import reading, writing
from ctx_memory.records.conversations import summaries
from ctx_memory.records.conversations.conversations import (
    IS_LIVE,
    Conversation,
    conversation_of,
    read,
)
from ctx_memory.records.conversations.summaries import SUMMARY_SOURCE, Summary, SummaryLevel
from ctx_memory.records.database import Database, Dialect, insert_into
from ctx_memory.records.entry import Draft, Entry, EntryKind, moment
from ctx_memory.records.tables import conversations, entries

MAX_CHARACTERS = 1_000_000  # of the messages that are read at once, but always one
HIGH_IMPORTANCE = 0.75  # from here on a message counts as important


@dataclass(frozen=True)
class MessageDraft:
    """A message to store; `tokens` is an estimate of its length."""

    conversation: str
    role: str
    text: str
    importance: float
    tags: Sequence[str] = ()
    tokens: int = 0


@dataclass(frozen=True)
class MessagePage:
    """Messages of a conversation, oldest first; `older_before` is None on the last page."""

    messages: Sequence[Entry]
    total: int
    older_before: int | None


class MessageRecords:
    """Keeps messages. Every method is one transaction, and raises StorageFailed.

    `collection` is the Qdrant collection that holds the points of messages.
    """

    def __init__(self, database: Database, collection: str) -> None:
        self._database = database
        self._collection = collection

    async def add(self, draft: MessageDraft) -> Conversation:
        """Store a message; return its conversation, made or brought back. Raises InvalidInput.

        The conversation's row is locked before the message gets its id, so that ids are in the
        order of commits.
        """
        dialect = self._database.dialect
        entry = Draft(
            EntryKind.MESSAGE,
            self._collection,
            draft.text,
            thread=draft.conversation,
            source=draft.role,
            importance=draft.importance,
            tags=draft.tags,
            metadata={"tokens": draft.tokens},
        )
        async with self._database.writing("store a message") as connection:
            conversation = await _count(connection, dialect, draft)
            await writing.add(connection, dialect, [entry], merge_repeats=False)
            return conversation

    async def page(
        self, conversation: str, limit: int, before: int | None = None
    ) -> tuple[MessagePage, Summary | None]:
        """Return the newest messages with an id below `before`, oldest first, and the summary.

        Fewer than `limit` where their texts together are longer than MAX_CHARACTERS.
        """
        async with self._database.reading("read messages") as connection:
            found = await read(connection, conversation)
            if found is None:
                return MessagePage([], 0, None), None
            page = await _page(connection, found, limit, before)
            known = await summaries.read(connection, SummaryLevel.CONVERSATION, [conversation])
            return page, known.get(conversation)

    async def last(self, conversation: str) -> int:
        """Return the id of a conversation's newest message, 0 where it has none."""
        query = select(func.max(entries.c.id)).where(_is_message_of(conversation))
        async with self._database.reading("read messages") as connection:
            return await connection.scalar(query) or 0

    async def after(self, conversation: str, entry_id: int, limit: int) -> list[Entry]:
        """Return the messages after an id, oldest first; fewer than `limit` where they are long."""
        conditions = _is_message_of(conversation), entries.c.id > entry_id
        async with self._database.reading("read messages") as connection:
            sizes = await _sizes(connection, conditions, entries.c.id, limit)
            return await _read(connection, _fitting(sizes))

    async def owners(self, entry_ids: Sequence[int]) -> dict[int, str]:
        """Return the conversation of each entry; a cleanup's are left out."""
        found: dict[int, str] = {}
        async with self._database.reading("read messages") as connection:
            for batch in reading.id_batches(entry_ids):
                query = (
                    select(entries.c.id, entries.c.thread)
                    .join(conversations, conversations.c.id == entries.c.thread)
                    .where(entries.c.id.in_(batch))
                    .where(entries.c.kind == EntryKind.MESSAGE.value, IS_LIVE)
                )
                found |= {row.id: row.thread for row in await connection.execute(query)}
        return found

    async def count(self, ids: Sequence[str]) -> int:
        """Count the messages of these conversations."""
        total = select(func.sum(conversations.c.messages)).where(IS_LIVE)
        count = 0
        async with self._database.reading("count messages") as connection:
            for batch in reading.id_batches(ids):
                count += await connection.scalar(total.where(conversations.c.id.in_(batch))) or 0
        return count


async def _count(
    connection: AsyncConnection, dialect: Dialect, draft: MessageDraft
) -> Conversation:
    """Count a message in its conversation, made or brought back, and lock its row."""
    now = moment(utc_now())
    important = int(draft.importance >= HIGH_IMPORTANCE)
    added = {
        "messages": 1,
        "important": important,
        "fresh_messages": 1,
        "fresh_tokens": draft.tokens,
        "fresh_important": important,
    }
    fresh = insert_into(conversations, dialect).values(
        id=draft.conversation, created_at=now, updated_at=now, **added
    )
    counted: dict[str, Any] = {name: conversations.c[name] + fresh.excluded[name] for name in added}
    counted |= {"updated_at": now, "removed_at": None, "removed_for": None}
    upsert = fresh.on_conflict_do_update(index_elements=["id"], set_=counted)
    row = (await connection.execute(upsert.returning(conversations))).mappings().one()
    return conversation_of(row)


async def _page(
    connection: AsyncConnection, conversation: Conversation, limit: int, before: int | None
) -> MessagePage:
    conditions = [_is_message_of(conversation.id)]
    if before is not None:
        conditions.append(entries.c.id < before)
    sizes = await _sizes(connection, conditions, entries.c.id.desc(), limit + 1)
    ids = _fitting(sizes[:limit])
    shown = await _read(connection, ids)
    has_more = len(ids) < len(sizes)
    return MessagePage(shown, conversation.messages, shown[0].id if has_more else None)


async def _sizes(
    connection: AsyncConnection,
    conditions: Sequence[ColumnElement[bool]],
    order: ColumnElement[int],
    limit: int,
) -> list[tuple[int, int]]:
    """Return id and length of messages in this order."""
    columns = select(entries.c.id, func.length(entries.c.text))
    rows = await connection.execute(columns.where(*conditions).order_by(order).limit(limit))
    return [(id_, length) for id_, length in rows]


def _fitting(sizes: Sequence[tuple[int, int]]) -> list[int]:
    """Return the first ids whose texts are together short enough, at least one."""
    ids: list[int] = []
    total = 0
    for id_, length in sizes:
        total += length
        if ids and total > MAX_CHARACTERS:
            break
        ids.append(id_)
    return ids


async def _read(connection: AsyncConnection, ids: Sequence[int]) -> list[Entry]:
    """Return messages by id, oldest first."""
    found = await reading.read_by(connection, entries.c.id, ids)
    return sorted(found, key=lambda entry: entry.id)


def _is_message_of(conversation: str) -> ColumnElement[bool]:
    return and_(
        entries.c.kind == EntryKind.MESSAGE.value,
        entries.c.thread == conversation,
        entries.c.source != SUMMARY_SOURCE,
    )
