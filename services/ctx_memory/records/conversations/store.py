"""The conversations of the record store, in parts by noun."""

from ctx_memory.records.conversations.calls import CallRecords
from ctx_memory.records.conversations.conversations import ConversationRecords
from ctx_memory.records.conversations.imports import ImportRecords
from ctx_memory.records.conversations.messages import MessageRecords
from ctx_memory.records.conversations.relations import RelationRecords
from ctx_memory.records.conversations.summaries import SummaryRecords
from ctx_memory.records.database import Database


class ConversationStore:
    """Conversations in SQL. `collection` holds the points of messages and summaries."""

    def __init__(self, database: Database, collection: str) -> None:
        self.conversations = ConversationRecords(database)
        self.messages = MessageRecords(database, collection)
        self.summaries = SummaryRecords(database, collection)
        self.relations = RelationRecords(database)
        self.calls = CallRecords(database)
        self.imports = ImportRecords(database, collection)
