"""Imports conversations of another system, each folder once."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.clock import utc_now
from ctx_memory.records.conversations import relations, summaries
from ctx_memory.records.conversations.relations import Relation
from ctx_memory.records.conversations.summaries import SummaryDraft, SummaryLevel
from ctx_memory.records.database import Database, Dialect, insert_into
from ctx_memory.records.entry import moment
from ctx_memory.records.tables import conversations, imports


@dataclass(frozen=True)
class ImportedConversation:
    """A conversation of another system: its summary without its messages."""

    id: str
    summary: SummaryDraft
    version: int
    messages: int
    updated_at: str


@dataclass(frozen=True)
class ImportedRollup:
    """A summary of summaries of another system."""

    level: SummaryLevel
    id: str
    summary: SummaryDraft
    version: int
    updated_at: str


@dataclass(frozen=True)
class ImportedFolder:
    """The content of a folder of another system; `skipped` counts unreadable files."""

    conversations: Sequence[ImportedConversation] = ()
    rollups: Sequence[ImportedRollup] = ()
    relations: Sequence[Relation] = ()
    skipped: int = 0


class ImportRecords:
    """Imports folders. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database, collection: str) -> None:
        self._database = database
        self._collection = collection

    async def add_once(self, folder: str, found: ImportedFolder) -> ImportedFolder | None:
        """Add the unknown part of a folder, and return it; None where it was imported before."""
        dialect, collection = self._database.dialect, self._collection
        async with self._database.writing("import conversations") as connection:
            now = moment(utc_now())
            claim = insert_into(imports, dialect).values(folder=folder, at=now)
            if (await connection.execute(claim.on_conflict_do_nothing())).rowcount == 0:
                return None
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
