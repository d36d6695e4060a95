"""Writes fixed statistics for SQLite's query planner.

Without statistics the planner takes every equality as selective, even `kind = 'thread'`, and reads
all entries to find sixty by uuid: 80 ms at 100,000 entries instead of 1 ms. Statistics of a small
database would mislead it as much. So every start writes the statistics of a large one; in a small
database every plan is fast.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

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
