"""Imports conversations of another system, each folder once."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from services.memory.records.conversations import summaries
from services.memory.records.conversations.types import ImportedConversation, SummaryLevel
from services.memory.records.conversations.upsert import insert_into
from services.memory.records.database import Dialect
from services.memory.records.tables import conversations, imports


async def claim(connection: AsyncConnection, dialect: Dialect, folder: str, now: str) -> bool:
    """Record that a folder is imported; False where it was before."""
    fresh = insert_into(imports, dialect).values(folder=folder, at=now)
    return (await connection.execute(fresh.on_conflict_do_nothing())).rowcount == 1


async def add(
    connection: AsyncConnection,
    dialect: Dialect,
    found: Sequence[ImportedConversation],
    collection: str,
) -> int:
    """Add conversations that are not known yet; return how many."""
    added = 0
    for each in found:
        fresh = insert_into(conversations, dialect).values(
            id=each.id, created_at=each.updated_at, updated_at=each.updated_at
        )
        if (await connection.execute(fresh.on_conflict_do_nothing())).rowcount == 0:
            continue
        added += 1
        await summaries.make_searchable(connection, dialect, each.id, each.summary.text, collection)
        level = SummaryLevel.CONVERSATION
        await summaries.save(
            connection, dialect, level, each.id, each.summary, each.updated_at, each.version
        )
    return added
