"""The SQL tables. One table holds memories, thread entries and conversation messages."""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

MOMENT_LENGTH = 27  # 2026-01-31T12:00:00.000000Z: one length, so that text order is time order

VERSION_TABLE = "records_version"  # not Alembic's default, which another program may use

schema = MetaData()

entries = Table(
    "entries",
    schema,
    Column("id", Integer, primary_key=True, autoincrement=True),
    # As a sentinel it matches returned ids to rows, so that many rows go in by one statement.
    Column("uuid", String(36), nullable=False, unique=True, insert_sentinel=True),
    Column("kind", String(32), nullable=False),
    Column(
        "collection", String(128), nullable=False
    ),  # the Qdrant collection that holds its points
    Column("thread", String(256)),
    Column("source", String(32)),  # the author's role
    Column("content_type", String(16), nullable=False, server_default="text"),
    Column("text", Text, nullable=False),
    Column("metadata", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    Column("importance", Float),
    Column("scope", String(64)),
    Column("summary", Text, nullable=False, server_default=""),
    Column("summary_by", String(128)),  # the decoder's name, or `extractive`
    Column("content_hash", String(64), nullable=False),
    Column("revision", Integer, nullable=False, server_default="1"),
    Column("created_at", String(MOMENT_LENGTH), nullable=False),
    Column("updated_at", String(MOMENT_LENGTH), nullable=False),
    Index("entries_by_collection", "kind", "collection"),
    Index("entries_by_thread", "kind", "thread", "id"),
    Index("entries_by_time", "kind", "created_at"),
    sqlite_autoincrement=True,
)

tags = Table(
    "entry_tags",
    schema,
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", String(256), primary_key=True),
    Index("entry_tags_by_tag", "tag", "entry_id"),
)

images = Table(
    "entry_images",
    schema,
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("mime_type", String(128), nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("metadata", JSON().with_variant(JSONB(), "postgresql")),
)

# A row says that an entry changed: its points must be written, or deleted where it is gone.
outbox = Table(
    "outbox",
    schema,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("uuid", String(36), nullable=False, index=True),
    Column("kind", String(32), nullable=False),
    Column("collection", String(128), nullable=False),
    Column("claimed_by", String(36)),  # the process that leases the row, until the next column
    Column("claimed_until", String(MOMENT_LENGTH)),
    Column("problem", Text),  # why the row is parked: it can never be written
    sqlite_autoincrement=True,
)

# The uuids of deleted entries. Only a point whose entry is listed here may be deleted unasked: one
# that the records never knew may be the last copy of an entry that they lost.
deleted_entries = Table(
    "deleted_entries",
    schema,
    Column("uuid", String(36), primary_key=True),
    Column("deleted_at", String(MOMENT_LENGTH), nullable=False),
)

# Entries of a project's knowledge that never go to its repository. `run` is the run of the server
# that an ephemeral entry ends with, and empty for a private one.
private_entries = Table(
    "private_entries",
    schema,
    Column("project", String(512), primary_key=True),
    Column("type", String(32), primary_key=True),
    Column("key", String(256), primary_key=True),
    Column("run", String(64), primary_key=True),
    Column("author", String(256), nullable=False),
    Column("content", Text, nullable=False),
    Column("events", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    Column("updated_at", String(MOMENT_LENGTH), nullable=False),
)

# A conversation: a thread of messages, which the contract calls a context. `fresh_*` count the
# messages added since its summary, which covers messages up to the id `summarised_through`.
conversations = Table(
    "conversations",
    schema,
    Column("id", String(256), primary_key=True),
    Column("messages", Integer, nullable=False, server_default="0"),
    Column("important", Integer, nullable=False, server_default="0"),
    Column("fresh_messages", Integer, nullable=False, server_default="0"),
    Column("fresh_tokens", Integer, nullable=False, server_default="0"),
    Column("fresh_important", Integer, nullable=False, server_default="0"),
    Column("summarised_through", Integer, nullable=False, server_default="0"),
    Column("created_at", String(MOMENT_LENGTH), nullable=False),
    Column("updated_at", String(MOMENT_LENGTH), nullable=False),
    Column("removed_at", String(MOMENT_LENGTH)),  # when a cleanup removed it
    Column("removed_for", String(256)),  # the conversation that the cleanup kept
    Index("conversations_by_removal", "removed_at"),
)

# Summaries of conversations, of parents with their children, and of the whole.
summaries = Table(
    "conversation_summaries",
    schema,
    Column("level", String(16), primary_key=True),
    Column("id", String(256), primary_key=True),
    Column("text", Text, nullable=False),
    Column("written_by", String(128), nullable=False),  # the decoder's name, or `extractive`
    Column("version", Integer, nullable=False),
    Column("updated_at", String(MOMENT_LENGTH), nullable=False),
    Column("details", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
)

relations = Table(
    "conversation_relations",
    schema,
    Column("source", String(256), primary_key=True),
    Column("target", String(256), primary_key=True),
    Column("type", String(16), primary_key=True),
    Column("weight", Float, nullable=False),
    Column("is_automatic", Boolean, nullable=False),
    Column("created_at", String(MOMENT_LENGTH), nullable=False),
    Column("updated_at", String(MOMENT_LENGTH), nullable=False),
    Index("conversation_relations_by_target", "target", "type"),
)

calls = Table(
    "conversation_calls",
    schema,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("type", String(32), nullable=False),
    Column("at", String(MOMENT_LENGTH), nullable=False),
    Column("milliseconds", Float, nullable=False),
    Index("conversation_calls_by_time", "at"),
)

# Folders of summaries that were imported, so that each is imported once.
imports = Table(
    "conversation_imports",
    schema,
    Column("folder", Text, primary_key=True),
    Column("at", String(MOMENT_LENGTH), nullable=False),
)

# --- statistics for the planner of SQLite --------------------------------------------------
#
# Without statistics SQLite takes every equality as selective, even `kind = 'thread'`, and reads all
# entries to find sixty by uuid: 80 ms at 100,000 entries instead of 1 ms. Statistics of a small
# database would mislead it as much. So every start writes the statistics of a large one; in a small
# database every plan is fast.

ENTRIES = "100000"
# Per index: rows with equal first column, with equal first two columns, and so on.
ROWS_PER_PREFIX = {
    "sqlite_autoindex_entries_1": (1,),
    "entries_by_collection": (50_000, 25_000),
    "entries_by_thread": (50_000, 100, 1),
    "entries_by_time": (50_000, 2),
    "entry_tags_by_tag": (1_000, 1),
    "sqlite_autoindex_entry_tags_1": (2, 1),
}
METADATA_INDEX = (50_000, 2_000, 2, 1)  # columns kind, value, created_at, id
INDEXES = text("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'")


async def write_statistics(connection: AsyncConnection) -> None:
    """Write the statistics. Call it after every index was created, on SQLite only."""
    await connection.execute(text("ANALYZE entry_tags"))  # creates sqlite_stat1 where it is missing
    await connection.execute(text("DELETE FROM sqlite_stat1"))
    for name, table in (await connection.execute(INDEXES)).all():
        counts = METADATA_INDEX if name.startswith("metadata_") else ROWS_PER_PREFIX.get(name)
        if counts is not None:
            values = {"tbl": table, "idx": name, "stat": " ".join([ENTRIES, *map(str, counts)])}
            insert = "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:tbl, :idx, :stat)"
            await connection.execute(text(insert), values)
    await connection.execute(text("ANALYZE sqlite_schema"))  # loads the new statistics
