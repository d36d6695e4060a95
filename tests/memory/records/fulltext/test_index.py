"""The full-text index: kept in step with entries, made again for another language."""

from typing import Any

import pytest
from sqlalchemy import delete, text, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ctx_core.errors import SettingsInvalid
from ctx_memory.records.filters.indexes import index_metadata
from ctx_memory.records.fulltext.index import LANGUAGES
from ctx_memory.records.tables import entries
from tests.support.fulltext import ids, index_of
from tests.support.tables import bare_tables, fill, row


async def test_the_index_follows_the_entries(texts: AsyncConnection) -> None:
    await texts.execute(update(entries).where(entries.c.id == 4).values(text="calm unicorn"))
    assert (await ids(texts, "panic"), await ids(texts, "unicorn")) == ([], [4])
    await texts.execute(update(entries).where(entries.c.id == 4).values(summary="panic"))
    assert (await ids(texts, "panic"), await ids(texts, "unicorn")) == ([], [4])
    await texts.execute(delete(entries).where(entries.c.id == 4))
    assert await ids(texts, "unicorn") == []
    await fill(texts, [row(4, text="another unicorn")])
    assert await ids(texts, "unicorn") == [4]


async def test_another_language_fills_the_index_anew(texts: AsyncConnection) -> None:
    await index_of(texts, "simple").ensure(texts)
    assert await ids(texts, "crash", language="simple") == []
    assert await ids(texts, "crashed", language="simple") == [1]
    assert await ids(texts, "the", language="simple") == [1, 4]  # no stop words either
    await fill(texts, [row(50, text="crashed again")])
    assert await ids(texts, "crashed", language="simple") == [1, 50]
    await index_of(texts, "english").ensure(texts)
    assert await ids(texts, "crash") == [1, 50]


async def test_postgresql_stems_other_languages(postgres_url: str) -> None:
    async with bare_tables(postgres_url) as engine, engine.begin() as connection:
        await fill(connection, [row(1, text="Die Häuser sind groß")])
        await index_metadata(connection, "postgresql", [])
        known = set(await connection.scalars(text("SELECT cfgname FROM pg_ts_config")))
        for language in LANGUAGES:
            if language in known:  # Estonian came with PostgreSQL 18
                await index_of(connection, language).ensure(connection)
            else:
                with pytest.raises(SettingsInvalid, match="this PostgreSQL knows"):
                    await index_of(connection, language).ensure(connection)
        await index_of(connection, "german").ensure(connection)
        assert await ids(connection, "Haus", language="german") == [1]


async def test_sqlite_says_that_it_stems_english_only(
    engine: AsyncEngine, caplog: pytest.LogCaptureFixture
) -> None:
    async with engine.begin() as connection:
        await index_of(connection, "german").ensure(connection)
    said = "stems English only" in caplog.text
    assert said == (engine.dialect.name == "sqlite")


ACCENTS = {
    "Ångström": ["angstrom", "ANGSTRÖM", "A\u030angstro\u0308m"],
    "São Paulo": ["sao", "são paulo"],
    "Tiếng Việt": ["tieng viet", "việt"],
    "cafe\u0301": ["cafe", "café", "CAFÉ"],
    "чай": ["чай"],
    "smørrebrød": ["smørrebrød"],
}


async def test_accents_do_not_count(texts: AsyncConnection) -> None:
    assert await ids(texts, "café") == await ids(texts, "cafe") == [6]
    await fill(texts, [row(100 + n, text=word) for n, word in enumerate(ACCENTS)])
    for n, queries in enumerate(ACCENTS.values()):
        for query in queries:
            for mode in ("match", "prefix", "phrase"):
                assert 100 + n in await ids(texts, query, mode), (query, mode)
    for other in ("чаи", "smorrebrod"):  # other letters, not accents
        assert await ids(texts, other) == []


async def test_an_unknown_language_is_refused(connection: AsyncConnection) -> None:
    with pytest.raises(SettingsInvalid, match="did you mean english") as caught:
        await index_of(connection, "englisch").ensure(connection)
    assert "french" in caught.value.message


async def test_an_index_that_is_there_is_left_alone(texts: AsyncConnection) -> None:
    before = await _identity(texts)
    await index_of(texts, "english").ensure(texts)
    assert await _identity(texts) == before
    await index_of(texts, "simple").ensure(texts)
    assert await _identity(texts) != before


async def _identity(connection: AsyncConnection) -> Any:
    if connection.dialect.name == "postgresql":
        return await connection.scalar(text("SELECT 'entries_by_text'::regclass::oid"))
    return await connection.scalar(
        text("SELECT rootpage FROM sqlite_master WHERE name = 'entries_text_data'")
    ), await connection.scalar(text("SELECT sql FROM sqlite_master WHERE name = 'entries_text'"))


async def test_a_lost_trigger_is_noticed(texts: AsyncConnection) -> None:
    if texts.dialect.name == "postgresql":
        pytest.skip("PostgreSQL keeps the vectors itself")
    await texts.exec_driver_sql("DROP TRIGGER entries_text_added")
    await fill(texts, [row(60, text="unicorn")])
    assert await ids(texts, "unicorn") == []
    await index_of(texts).ensure(texts)
    assert await ids(texts, "unicorn") == [60]


async def test_a_text_of_any_size_can_be_stored(connection: AsyncConnection) -> None:
    """PostgreSQL's vectors have a limit, which no text may run into."""
    rare = [chr(0x20000 + n) for n in range(350)]  # letters of four bytes each
    words = [
        *("w{0}", "слово{0}", "a-{0}", "{0}.{0}", "日{0}", "/x/{0}/y"),
        *("".join((first, "{1}")) for first in rare[:1]),
    ]
    for number, word in enumerate(words, start=1):
        whole = " ".join(
            word.format(n, rare[n % 350] + rare[n // 350 % 350]) for n in range(100_000)
        )
        await fill(connection, [row(number, text="needle " + whole)])
    assert await ids(connection, "needle") == list(range(1, len(words) + 1))
