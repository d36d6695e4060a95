"""URLs of databases, databases that cannot be opened, and deadlines."""

import asyncio
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from ctx_core.errors import SettingsInvalid, StorageFailed
from ctx_memory.records.database import Database
from ctx_memory.records.store import Records
from tests.support.records import draft

# Takes a while for its first row, and has others.
LATE_ROWS = """
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000010)
    SELECT n FROM numbers WHERE n > 1000000
"""


@pytest.mark.parametrize(
    "url", ["mysql://host/name", "sqlite://", "sqlite:///:memory:", "nonsense"]
)
async def test_another_database_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="DATABASE_URL"):
        await Records.open(url)


@pytest.mark.parametrize(
    ("broken", "host"),
    [
        ("postgresql://someone:secret@127.0.0.1:9/records", "127.0.0.1"),
        ("postgresql://someone:secret@no-such-host.invalid/records", "no-such-host"),
    ],
)
async def test_a_database_that_does_not_answer_is_named_without_user_and_host(
    broken: str, host: str
) -> None:
    with pytest.raises(StorageFailed) as raised:
        await Records.open(broken)
    assert "PostgreSQL (DATABASE_URL)" in str(raised.value)
    assert not [word for word in (host, "someone", "secret") if word in str(raised.value)]


async def test_usual_ways_to_write_a_url(postgres_url: str) -> None:
    written = postgres_url.replace("postgresql://", "postgres://") + "&sslmode=disable"
    records = await Records.open(written)
    await records.ping()
    await records.close()


async def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for place in (f"{__file__}/records.sqlite", str(tmp_path)):
        with pytest.raises(StorageFailed, match=f"{place} cannot be written.* CTX_DATA_DIR"):
            await Records.open(f"sqlite:///{place}")


async def test_a_database_that_is_not_there_is_named(postgres_url: str) -> None:
    with pytest.raises(StorageFailed, match="does not exist"):
        await Records.open(postgres_url.replace("/ctx_", "/no_ctx_"))


async def test_the_driver_of_postgresql_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "asyncpg", None)
    with pytest.raises(SettingsInvalid, match=r"pip install 'ctx-engine\[postgres\]'"):
        await Records.open("postgresql://127.0.0.1/records")


SLOW = {
    "sqlite": "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) "
    "SELECT count(*) FROM n",
    "postgresql": "SELECT pg_sleep(30)",
}


async def test_a_query_ends_at_the_deadline_of_its_caller(records_url: str) -> None:
    database = Database(records_url)
    start = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5), database.reading("count") as connection:
            await connection.execute(text(SLOW[database.dialect]))
    assert time.monotonic() - start < 5  # the query alone takes half a minute
    async with database.reading("count") as connection:
        assert await connection.scalar(text("SELECT 1")) == 1
    await database.close()


async def test_a_write_that_is_given_up_lets_others_write(records: Records) -> None:
    """The error, which is kept, holds the cursor of a statement that has more rows."""
    begun = asyncio.Event()

    async def write() -> None:
        async with records.database.writing("count") as connection:
            begun.set()
            await connection.execute(text(LATE_ROWS))

    writing = asyncio.create_task(write())
    await begun.wait()
    await asyncio.sleep(0.05)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError) as kept:
        await writing
    async with asyncio.timeout(5):
        await records.entries.add([draft("after all")])
    assert kept.value.__traceback__ is not None
