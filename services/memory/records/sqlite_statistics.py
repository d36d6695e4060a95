"""Tells SQLite's planner what a large store looks like.

Without statistics it takes every equality for a rare one, `kind = 'thread'` too, and reads all
entries to find sixty by their uuids: 80 ms of 100,000 instead of one. Statistics taken while the
store is small would mislead it as much. So it is told, at every start, of a large store; in a small
one every plan is quick.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

ENTRIES = "100000"
# How many rows share the first column of an index, its first two columns, and so on.
SHAPES = {
    "sqlite_autoindex_entries_1": (1,),
    "entries_by_collection": (50_000, 25_000),
    "entries_by_thread": (50_000, 100, 1),
    "entries_by_time": (50_000, 2),
    "entry_tags_by_tag": (1_000, 1),
    "sqlite_autoindex_entry_tags_1": (2, 1),
}
METADATA = (50_000, 2_000, 2, 1)  # an index on a metadata field: kind, value, time, id
INDEXES = text("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'")


async def write_statistics(connection: AsyncConnection) -> None:
    """For SQLite alone, after the last index was made; connections opened later know it too."""
    await connection.execute(text("ANALYZE entry_tags"))  # makes the table where there is none
    await connection.execute(text("DELETE FROM sqlite_stat1"))
    for name, table in (await connection.execute(INDEXES)).all():
        shape = METADATA if name.startswith("metadata_") else SHAPES.get(name)
        if shape is not None:
            values = {"tbl": table, "idx": name, "stat": " ".join([ENTRIES, *map(str, shape)])}
            insert = "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:tbl, :idx, :stat)"
            await connection.execute(text(insert), values)
    await connection.execute(text("ANALYZE sqlite_schema"))  # reads them
