"""The conversations of the record store."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from ctx_core.clock import utc_now
from ctx_memory.records.conversations import (
    calls,
    cleanup,
    imports,
    messages,
    relations,
    summaries,
)
from ctx_memory.records.conversations.types import (
    CallTotals,
    Conversation,
    Coverage,
    Direction,
    ImportedFolder,
    MessageDraft,
    MessagePage,
    Relation,
    RelationType,
    Summary,
    SummaryDraft,
    SummaryLevel,
    SummaryThresholds,
)
from ctx_memory.records.database import Database
from ctx_memory.records.entry import Entry, moment


class ConversationRecords:
    """Conversations in SQL. Every method is one transaction, and raises StorageFailed.

    `collection` is the Qdrant collection that holds the points of messages and summaries.
    """

    def __init__(self, database: Database, collection: str) -> None:
        self._database = database
        self._dialect = database.dialect
        self._collection = collection

    # --- messages --------------------------------------------------------------------------

    async def add_message(self, draft: MessageDraft) -> Conversation:
        """Store a message; return its conversation. Raises InvalidInput."""
        async with self._database.writing("store a message") as connection:
            return await messages.add(connection, self._dialect, draft, self._collection, _now())

    async def conversation(self, id_: str) -> Conversation | None:
        async with self._database.reading("read a conversation") as connection:
            return await messages.read(connection, id_)

    async def conversations(self) -> list[Conversation]:
        """Return all conversations, the most recently changed first."""
        async with self._database.reading("list conversations") as connection:
            return await messages.read_many(connection)

    async def due(self, thresholds: SummaryThresholds) -> list[str]:
        """Return the conversations that need a summary."""
        async with self._database.reading("list conversations") as connection:
            return await messages.due(connection, thresholds)

    async def page(
        self, id_: str, limit: int, before: int | None = None
    ) -> tuple[MessagePage, Summary | None]:
        """Return the newest messages with an id below `before`, and the summary."""
        async with self._database.reading("read messages") as connection:
            found = await messages.read(connection, id_)
            if found is None:
                return MessagePage([], 0, None), None
            page = await messages.page(connection, found, limit, before)
            known = await summaries.read(connection, SummaryLevel.CONVERSATION, [id_])
            return page, known.get(id_)

    async def last_message(self, id_: str) -> int:
        """Return the id of a conversation's newest message, 0 where it has none."""
        async with self._database.reading("read messages") as connection:
            return await messages.last(connection, id_)

    async def messages_after(self, id_: str, entry_id: int, limit: int) -> list[Entry]:
        """Return the messages with an id above `entry_id`, oldest first."""
        async with self._database.reading("read messages") as connection:
            return await messages.after(connection, id_, entry_id, limit)

    async def conversations_of(self, entry_ids: Sequence[int]) -> dict[int, str]:
        """Return the conversation of each entry."""
        async with self._database.reading("read messages") as connection:
            return await messages.conversations_of(connection, entry_ids)

    async def count_messages(self, ids: Sequence[str]) -> int:
        """Count the messages of these conversations."""
        async with self._database.reading("count messages") as connection:
            return await messages.total(connection, ids)

    # --- summaries -------------------------------------------------------------------------

    async def save_summary(
        self, id_: str, draft: SummaryDraft, coverage: Coverage
    ) -> Summary | None:
        """Save a conversation's summary; None where another process was first."""
        async with self._database.writing("save a summary") as connection:
            return await summaries.save_of_conversation(
                connection, self._dialect, id_, draft, coverage, self._collection, _now()
            )

    async def save_rollup(self, level: SummaryLevel, id_: str, draft: SummaryDraft) -> Summary:
        """Save a summary of summaries."""
        async with self._database.writing("save a summary") as connection:
            return await summaries.save(connection, self._dialect, level, id_, draft, _now())

    async def summaries(self, level: SummaryLevel, ids: Sequence[str]) -> dict[str, Summary]:
        """Return the summaries of a level by id."""
        async with self._database.reading("read summaries") as connection:
            return await summaries.read(connection, level, ids)

    async def summary_ids(self, level: SummaryLevel) -> list[str]:
        """Return the ids that have a summary of this level, the newest first."""
        async with self._database.reading("list summaries") as connection:
            return await summaries.ids(connection, level)

    # --- relations -------------------------------------------------------------------------

    async def relate(self, relation: Relation) -> None:
        """Add a relation and its inverse, or change the weight of a known one."""
        async with self._database.writing("add a relation") as connection:
            await relations.save(connection, self._dialect, [relation], _now())

    async def replace_similar(self, id_: str, weights: Mapping[str, float]) -> None:
        """Replace the automatic `similar` relations of a conversation."""
        async with self._database.writing("add relations") as connection:
            await relations.replace_similar(connection, self._dialect, id_, weights, _now())

    async def relations(
        self, id_: str, type_: RelationType | None, direction: Direction
    ) -> list[Relation]:
        """Return the relations of a conversation, the strongest first."""
        async with self._database.reading("read relations") as connection:
            return await relations.of(connection, id_, type_, direction)

    async def relations_from(self, sources: Sequence[str]) -> list[Relation]:
        """Return every relation that leaves one of these conversations."""
        async with self._database.reading("read relations") as connection:
            return await relations.from_sources(connection, sources)

    async def path(self, source: str, target: str) -> list[str]:
        """Return the shortest directed path, [] where there is none."""
        async with self._database.reading("find a path") as connection:
            return await relations.path(connection, source, target)

    # --- cleanup, calls, imports -----------------------------------------------------------

    async def remove(self, ids: Sequence[str], kept: str, unchanged_since: datetime) -> list[str]:
        """Hide conversations that nobody wrote to since a time; return their ids."""
        async with self._database.writing("remove conversations") as connection:
            return await cleanup.remove(connection, ids, kept, moment(unchanged_since), _now())

    async def restore(self, kept: str) -> list[str]:
        """Bring back the conversations that cleanups for this one removed; return their ids."""
        async with self._database.writing("restore conversations") as connection:
            return await cleanup.restore(connection, kept)

    async def purge(
        self, removed_before: datetime, calls_before: datetime
    ) -> tuple[list[str], int]:
        """Delete conversations removed, and calls made, before a time."""
        async with self._database.writing("delete old conversations") as connection:
            purged = await cleanup.purge(connection, moment(removed_before))
            return purged, await calls.purge(connection, moment(calls_before))

    async def add_call(self, type_: str, seconds: float) -> None:
        """Count a call; a power cut may undo it, a crash does not."""
        async with self._database.writing("count a call", durable=False) as connection:
            await calls.add(connection, type_, _now(), seconds * 1000)

    async def call_totals(self, since: datetime, until: datetime) -> dict[str, CallTotals]:
        """Return count and mean duration of each type of call between two times."""
        async with self._database.reading("count calls") as connection:
            return await calls.totals(connection, moment(since), moment(until))

    async def import_once(self, folder: str, found: ImportedFolder) -> ImportedFolder | None:
        """Add the unknown part of a folder; None where the folder was imported before."""
        async with self._database.writing("import conversations") as connection:
            if not await imports.claim(connection, self._dialect, folder, _now()):
                return None
            return await imports.add(connection, self._dialect, found, self._collection, _now())


def _now() -> str:
    return moment(utc_now())
