"""Imports conversations of another system, each folder once."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.conversations import relations, summaries
from ctx_memory.records.conversations.types import (
    ImportedConversation,
    ImportedFolder,
    ImportedRollup,
    Relation,
    SummaryLevel,
)
from ctx_memory.records.conversations.upsert import insert_into
from ctx_memory.records.database import Dialect
from ctx_memory.records.tables import conversations, imports


async def claim(connection: AsyncConnection, dialect: Dialect, folder: str, now: str) -> bool:
    """Record that a folder is imported; False where it was before."""
    fresh = insert_into(imports, dialect).values(folder=folder, at=now)
    return (await connection.execute(fresh.on_conflict_do_nothing())).rowcount == 1


async def add(
    connection: AsyncConnection, dialect: Dialect, found: ImportedFolder, collection: str, now: str
) -> ImportedFolder:
    """Add the unknown part of a folder; return that part."""
    return ImportedFolder(
        await _add_conversations(connection, dialect, found.conversations, collection),
        await _add_rollups(connection, dialect, found.rollups),
        await _add_relations(connection, dialect, found.relations, now),
        found.skipped,
    )


async def _add_conversations(
    connection: AsyncConnection,
    dialect: Dialect,
    found: Sequence[ImportedConversation],
    collection: str,
) -> list[ImportedConversation]:
    added = []
    for each in found:
        fresh = insert_into(conversations, dialect).values(
            id=each.id, created_at=each.updated_at, updated_at=each.updated_at
        )
        if (await connection.execute(fresh.on_conflict_do_nothing())).rowcount == 0:
            continue
        added.append(each)
        await summaries.make_searchable(connection, dialect, each.id, each.summary.text, collection)
        level = SummaryLevel.CONVERSATION
        await summaries.save(
            connection, dialect, level, each.id, each.summary, each.updated_at, each.version
        )
    return added


async def _add_rollups(
    connection: AsyncConnection, dialect: Dialect, found: Sequence[ImportedRollup]
) -> list[ImportedRollup]:
    known = {level: set(await summaries.ids(connection, level)) for level in SummaryLevel}
    added = [each for each in found if each.id not in known[each.level]]
    for each in added:
        await summaries.save(
            connection, dialect, each.level, each.id, each.summary, each.updated_at, each.version
        )
    return added


async def _add_relations(
    connection: AsyncConnection, dialect: Dialect, found: Sequence[Relation], now: str
) -> list[Relation]:
    sources = sorted({each.source for each in found})
    known = {
        (each.source, each.target, each.type)
        for each in await relations.from_sources(connection, sources)
    }
    added = [each for each in found if (each.source, each.target, each.type) not in known]
    await relations.save(connection, dialect, added, now)
    return added
