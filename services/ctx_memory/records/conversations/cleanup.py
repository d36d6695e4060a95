"""Removes conversations, brings them back, and deletes those removed long ago."""

from collections.abc import Sequence

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records import reading, writing
from ctx_memory.records.conversations.types import SummaryLevel
from ctx_memory.records.entry import EntryKind
from ctx_memory.records.tables import conversations, entries, relations, summaries


async def remove(
    connection: AsyncConnection, ids: Sequence[str], kept: str, unchanged_since: str, now: str
) -> list[str]:
    """Hide conversations that nobody wrote to since a time; return their ids.

    `kept` is the conversation that the cleanup was asked for; `restore` takes it.
    """
    found: list[str] = []
    for batch in reading.id_batches(ids):
        is_unused = (
            conversations.c.id.in_(batch),
            conversations.c.removed_at.is_(None),
            conversations.c.updated_at < unchanged_since,
        )
        change = update(conversations).where(*is_unused).values(removed_at=now, removed_for=kept)
        found += (await connection.execute(change.returning(conversations.c.id))).scalars()
    return sorted(found)


async def restore(connection: AsyncConnection, kept: str) -> list[str]:
    """Bring back the conversations that cleanups for this one removed; return their ids."""
    change = (
        update(conversations)
        .where(conversations.c.removed_for == kept)
        .values(removed_at=None, removed_for=None)
        .returning(conversations.c.id)
    )
    return sorted((await connection.execute(change)).scalars())


async def purge(connection: AsyncConnection, removed_before: str) -> list[str]:
    """Delete conversations removed before a time, with messages, summaries and relations."""
    query = select(conversations.c.id).where(conversations.c.removed_at < removed_before)
    found = list((await connection.execute(query.with_for_update())).scalars())
    for batch in reading.id_batches(found):
        is_message = entries.c.kind == EntryKind.MESSAGE.value
        await writing.remove(connection, is_message & entries.c.thread.in_(batch))
        of_conversations = summaries.c.level != SummaryLevel.META.value
        await connection.execute(
            delete(summaries).where(of_conversations, summaries.c.id.in_(batch))
        )
        ends = or_(relations.c.source.in_(batch), relations.c.target.in_(batch))
        await connection.execute(delete(relations).where(ends))
        await connection.execute(delete(conversations).where(conversations.c.id.in_(batch)))
    return found
