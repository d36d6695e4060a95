"""SQLite takes the index that is quick in a large store, however small it is now."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ctx_memory.records.store import Records


@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("uuid IN ('a', 'b', 'c') AND kind = 'thread'", "sqlite_autoindex_entries_1"),
        ("id IN (1, 2, 3) AND kind = 'thread' AND created_at > '2025'", "INTEGER PRIMARY KEY"),
        ("kind = 'thread' AND thread = 't'", "entries_by_thread"),
        ("kind = 'thread' ORDER BY created_at DESC, id DESC LIMIT 30", "entries_by_time"),
        ("kind = 'thread' AND id IN (SELECT entry_id FROM entry_tags WHERE tag = 'x')", "by_tag"),
    ],
)
async def test_plans_of_the_usual_questions(tmp_path: Path, condition: str, index: str) -> None:
    path = tmp_path / "records.sqlite"
    await (await Records.open(f"sqlite:///{path}")).close()
    with closing(sqlite3.connect(path)) as database:
        plan = database.execute(f"EXPLAIN QUERY PLAN SELECT * FROM entries WHERE {condition}")
        steps = " ".join(str(row[3]) for row in plan)
    assert index in steps
