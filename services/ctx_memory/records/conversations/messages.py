"""Adds and reads the messages of conversations."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records import reading, writing
from ctx_memory.records.conversations.types import (
    HIGH_IMPORTANCE,
    SUMMARY_SOURCE,
    Conversation,
    MessageDraft,
    MessagePage,
    SummaryThresholds,
)
from ctx_memory.records.conversations.upsert import insert_into
from ctx_memory.records.database import Dialect
from ctx_memory.records.entry import Draft, Entry, EntryKind
from ctx_memory.records.tables import conversations, entries

MAX_CHARACTERS = 1_000_000  # of the messages that are read at once, but always one
IS_LIVE = conversations.c.removed_at.is_(None)


async def add(
    connection: AsyncConnection, dialect: Dialect, draft: MessageDraft, collection: str, now: str
) -> Conversation:
    """Add a message, creating its conversation or bringing it back after a cleanup.

    The conversation's row is locked before the message gets its id, so that ids are in the order
    of commits.
    """
    conversation = await _count(connection, dialect, draft, now)
    entry = Draft(
        EntryKind.MESSAGE,
        collection,
        draft.text,
        thread=draft.conversation,
        source=draft.role,
        importance=draft.importance,
        tags=draft.tags,
        metadata={"tokens": draft.tokens},
    )
    await writing.add(connection, dialect, [entry], merge_repeats=False)
    return conversation


async def _count(
    connection: AsyncConnection, dialect: Dialect, draft: MessageDraft, now: str
) -> Conversation:
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
    return _conversation(row)


async def read(connection: AsyncConnection, conversation: str) -> Conversation | None:
    """Return a conversation that no cleanup removed."""
    query = select(conversations).where(conversations.c.id == conversation, IS_LIVE)
    row = (await connection.execute(query)).mappings().one_or_none()
    return None if row is None else _conversation(row)


async def read_many(connection: AsyncConnection, limit: int | None = None) -> list[Conversation]:
    """Return all conversations, the most recently changed first."""
    query = select(conversations).where(IS_LIVE)
    ordered = query.order_by(conversations.c.updated_at.desc(), conversations.c.id).limit(limit)
    return [_conversation(row) for row in (await connection.execute(ordered)).mappings()]


async def due(connection: AsyncConnection, thresholds: SummaryThresholds) -> list[str]:
    """Return the conversations that need a summary, the longest unchanged first."""
    is_due = (
        (conversations.c.fresh_messages >= thresholds.messages)
        | (conversations.c.fresh_tokens >= thresholds.tokens)
        | (conversations.c.fresh_important >= thresholds.important)
    )
    query = select(conversations.c.id).where(is_due, IS_LIVE).order_by(conversations.c.updated_at)
    return list((await connection.execute(query)).scalars())


async def page(
    connection: AsyncConnection, conversation: Conversation, limit: int, before: int | None
) -> MessagePage:
    """Return the newest messages with an id below `before`, oldest first.

    Fewer than `limit` where their texts together are longer than MAX_CHARACTERS.
    """
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


async def last(connection: AsyncConnection, conversation: str) -> int:
    """Return the id of the newest message, 0 where there is none."""
    query = select(func.max(entries.c.id)).where(_is_message_of(conversation))
    return await connection.scalar(query) or 0


async def after(
    connection: AsyncConnection, conversation: str, entry_id: int, limit: int
) -> list[Entry]:
    """Return the messages with an id above `entry_id`, oldest first; fewer where they are long."""
    conditions = _is_message_of(conversation), entries.c.id > entry_id
    return await _read(
        connection, _fitting(await _sizes(connection, conditions, entries.c.id, limit))
    )


async def conversations_of(connection: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, str]:
    """Return the conversation of each entry; entries of removed conversations are left out."""
    found: dict[int, str] = {}
    for batch in reading.id_batches(entry_ids):
        query = (
            select(entries.c.id, entries.c.thread)
            .join(conversations, conversations.c.id == entries.c.thread)
            .where(entries.c.id.in_(batch), entries.c.kind == EntryKind.MESSAGE.value, IS_LIVE)
        )
        found |= {row.id: row.thread for row in await connection.execute(query)}
    return found


async def total(connection: AsyncConnection, ids: Sequence[str]) -> int:
    """Count the messages of these conversations."""
    count = 0
    for batch in reading.id_batches(ids):
        query = select(func.sum(conversations.c.messages)).where(
            conversations.c.id.in_(batch), IS_LIVE
        )
        count += await connection.scalar(query) or 0
    return count


def _is_message_of(conversation: str) -> ColumnElement[bool]:
    return and_(
        entries.c.kind == EntryKind.MESSAGE.value,
        entries.c.thread == conversation,
        entries.c.source != SUMMARY_SOURCE,
    )


def _conversation(row: RowMapping) -> Conversation:
    return Conversation(**{name: row[name] for name in Conversation.__dataclass_fields__})
