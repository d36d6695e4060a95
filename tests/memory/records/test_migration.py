"""Databases are brought up to date by themselves, once, with a copy made before."""

import asyncio
import json
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from ctx_core.errors import StorageFailed
from ctx_memory.records import migrate as migrating
from ctx_memory.records.database import Database
from ctx_memory.records.entry import Criteria, Draft, EntryKind
from ctx_memory.records.migrate import MIGRATIONS, migrate, newest_revision
from ctx_memory.records.store import Records
from ctx_memory.records.tables import VERSION_TABLE, schema
from tests.support.postgres import execute

# The first tables, as they were created before there were revisions.
OLD_TABLES = """
CREATE TABLE entries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    uuid VARCHAR(36) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    collection VARCHAR(128) NOT NULL,
    text TEXT NOT NULL,
    metadata JSON NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    created_at VARCHAR(32) NOT NULL,
    updated_at VARCHAR(32) NOT NULL,
    UNIQUE (uuid)
);
CREATE INDEX entries_by_collection ON entries (kind, collection);
CREATE TABLE outbox (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    entry_id INTEGER NOT NULL,
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);
CREATE INDEX ix_outbox_entry_id ON outbox (entry_id);
"""
OLD_ENTRIES = 2500
WAITING = (3, 2500)

LATER = f"""
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{newest_revision()}"
branch_labels = depends_on = None


def upgrade():
    op.add_column("entries", sa.Column("colour", sa.String(16)))
    op.execute("UPDATE entries SET colour = 'red', text = 'changed'")
"""
FAILING = LATER + "    raise RuntimeError('half way')\n"

OPENER = """
import asyncio, sys
from ctx_memory.records.store import Records

async def main():
    records = await Records.open(sys.argv[1])
    print(await records.outbox.pending())
    await records.close()

asyncio.run(main())
"""


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """A database with the first tables, in its journal mode, with times of every length."""
    path = tmp_path / "records.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript(OLD_TABLES)
    times = ("2024-01-15T10:30:00Z", "2024-01-15T10:30:00.5Z", "2024-01-15T10:30:00.123456Z")
    connection.executemany(
        "INSERT INTO entries VALUES (?, ?, 'memory', 'memories', ?, ?, 'hash', ?, ?)",
        [
            (
                number,
                f"00000000-0000-4000-8000-{number:012}",
                f"note {number} 🦊",
                json.dumps({"tags": ["SQL ", "sql", "x"], "created_at": times[number % 3]}),
                times[number % 3],
                times[number % 3],
            )
            for number in range(1, OLD_ENTRIES + 1)
        ],
    )
    connection.executemany("INSERT INTO outbox (entry_id) VALUES (?)", [(n,) for n in WAITING])
    connection.commit()
    connection.close()
    return path


async def test_nothing_of_an_older_database_is_lost(old_file: Path) -> None:
    records = await Records.open(f"sqlite:///{old_file}")
    try:
        found = await records.entries.get(range(1, OLD_ENTRIES + 1), EntryKind.MEMORY)
        assert [entry.id for entry in found] == list(range(1, OLD_ENTRIES + 1))
        assert {entry.content_hash for entry in found} == {"hash"}
        entry = found[0]
        assert entry.uuid == "00000000-0000-4000-8000-000000000001"
        assert entry.text == "note 1 🦊"
        assert entry.metadata["tags"] == ["SQL ", "sql", "x"]
        assert entry.tags == ["sql", "x"]
        assert (entry.collection, entry.revision) == ("memories", 1)
        assert {entry.created_at for entry in found} == {
            "2024-01-15T10:30:00.000000Z",
            "2024-01-15T10:30:00.500000Z",
            "2024-01-15T10:30:00.123456Z",
        }
        due = await records.outbox.lease(10)
        assert [item.entry.id for item in due if item.entry] == list(WAITING)
        [(new, _, _)] = await records.entries.add([Draft(EntryKind.MEMORY, "memories", "the next")])
        assert new == OLD_ENTRIES + 1
    finally:
        await records.close()


async def test_a_copy_is_made_before_and_only_then(old_file: Path) -> None:
    for _ in range(2):
        records = await Records.open(f"sqlite:///{old_file}")
        await records.close()
    [copy] = old_file.parent.glob("records.sqlite.before-*")
    assert copy.name.startswith(f"records.sqlite.before-{newest_revision()}-")
    with sqlite3.connect(copy) as kept:
        assert kept.execute("SELECT count(*), max(id) FROM entries").fetchone() == (2500, 2500)
        assert kept.execute("SELECT count(*) FROM outbox").fetchone() == (2,)
        assert kept.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    kept.close()


@pytest.fixture
def long_named_file(old_file: Path) -> Path:
    """The name of a copy of it is longer than a name may be."""
    return old_file.rename(old_file.with_name("r" * 240))


async def test_where_no_copy_can_be_made_nothing_is_changed(long_named_file: Path) -> None:
    long = long_named_file
    with pytest.raises(StorageFailed, match="left as it is"):
        await Records.open(f"sqlite:///{long}")
    with sqlite3.connect(long) as kept:
        assert kept.execute("SELECT count(*) FROM entries").fetchone() == (OLD_ENTRIES,)
        assert "thread" not in kept.execute("SELECT sql FROM sqlite_master").fetchone()[0]
    kept.close()


async def test_a_new_database_has_the_tables_of_this_version(records_url: str) -> None:
    await _apply(records_url, MIGRATIONS)
    database = Database(records_url)
    async with database.reading("compare") as connection:
        assert await connection.run_sync(_differences) == []
    await database.close()


def _differences(connection: Any) -> list[Any]:
    """What the migrations make otherwise than tables.py says."""
    options = {"compare_type": True, "version_table": VERSION_TABLE}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), schema))


async def _apply(url: str, folder: Path) -> None:
    database = Database(url)
    try:
        async with database.writing("migrate") as connection:
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(migrating, "MIGRATIONS", folder)
                await migrate(database, connection)
    finally:
        await database.close()


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """Our migrations and one that comes after them."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "r9999_later.py").write_text(LATER)
    return folder


async def _fill(url: str) -> None:
    records = await Records.open(url)
    await records.entries.add(
        [Draft(EntryKind.THREAD, "threads", "as it was", thread="t", tags=["x"])]
    )
    await records.close()


async def _rows(url: str, statement: str) -> Sequence[Any]:
    database = Database(url)
    try:
        async with database.reading("look") as connection:
            return [tuple(row) for row in await connection.execute(text(statement))]
    finally:
        await database.close()


async def test_a_later_revision_is_run_after_a_copy(records_url: str, later: Path) -> None:
    await _fill(records_url)
    for _ in range(2):
        await _apply(records_url, later)
    assert await _rows(records_url, "SELECT text, colour FROM entries") == [("changed", "red")]
    assert await _copied(records_url, "entries", "text") == ["as it was"]
    assert await _copied(records_url, "entry_tags", "tag") == ["x"]


async def _copied(url: str, table: str, column: str) -> list[str]:
    """A column of the only copy that there is."""
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        [copy] = path.parent.glob(f"{path.name}.before-9999-*")
        rows = await _rows(f"sqlite:///{copy}", f"SELECT {column} FROM {table}")
        return [row[0] for row in rows]
    named = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'backup_%'"
    [row] = execute(url, named)
    assert row["nspname"].startswith("backup_9999_")
    return [each[0] for each in execute(url, f"SELECT {column} FROM {row['nspname']}.{table}")]


async def test_a_failing_revision_leaves_everything_as_it_was(
    records_url: str, later: Path
) -> None:
    await _fill(records_url)
    (later / "versions" / "r9999_later.py").write_text(FAILING)
    with pytest.raises(RuntimeError, match="half way"):
        await _apply(records_url, later)
    assert await _rows(records_url, f"SELECT version_num FROM {VERSION_TABLE}") == [
        (newest_revision(),)
    ]
    records = await Records.open(records_url)
    [entry] = await records.entries.select(Criteria(EntryKind.THREAD), 10)
    assert entry.text == "as it was"
    await records.close()


async def test_a_database_of_a_newer_version_is_left_alone(records_url: str, later: Path) -> None:
    await _fill(records_url)
    await _apply(records_url, later)
    with pytest.raises(StorageFailed, match="newer ctx"):
        await Records.open(records_url)
    assert await _rows(records_url, "SELECT text FROM entries") == [("changed",)]


async def test_tables_of_another_program_are_left_alone(records_url: str) -> None:
    database = Database(records_url)
    async with database.writing("make a table") as connection:
        await connection.execute(text("CREATE TABLE entries (id INTEGER, title TEXT)"))
        await connection.execute(text("INSERT INTO entries VALUES (1, 'theirs')"))
    await database.close()
    with pytest.raises(StorageFailed, match="not ours"):
        await Records.open(records_url)
    assert await _rows(records_url, "SELECT title FROM entries") == [("theirs",)]


async def _open_together(url: str, count: int) -> None:
    running = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            OPENER,
            url,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        for _ in range(count)
    ]
    outcomes = await asyncio.gather(*(each.communicate() for each in running))
    assert [each.returncode for each in running] == [0] * count, outcomes


@pytest.mark.slow
async def test_processes_that_start_together_create_once(records_url: str) -> None:
    await _open_together(records_url, 4)
    assert await _rows(records_url, f"SELECT version_num FROM {VERSION_TABLE}") == [
        (newest_revision(),)
    ]


@pytest.mark.slow
async def test_processes_that_start_together_migrate_once(old_file: Path) -> None:
    await _open_together(f"sqlite:///{old_file}", 4)
    assert len(list(old_file.parent.glob("records.sqlite.before-*"))) == 1
    rows = await _rows(f"sqlite:///{old_file}", "SELECT count(*) FROM entries")
    assert rows == [(OLD_ENTRIES,)]
