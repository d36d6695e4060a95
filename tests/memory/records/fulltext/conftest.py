"""The tables with a full-text index, empty or with a few texts, on each database."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ctx_memory.records.filters.indexes import index_metadata
from tests.support.fulltext import TEXTS, index_of
from tests.support.tables import bare_tables, fill, row


@pytest.fixture
async def engine(records_url: str) -> AsyncIterator[AsyncEngine]:
    async with bare_tables(records_url) as opened:
        async with opened.begin() as connection:
            await index_metadata(connection, opened.dialect.name, ["status"])
            await index_of(connection, "english").ensure(connection)
        yield opened


@pytest.fixture
async def connection(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    async with engine.connect() as opened:
        yield opened


@pytest.fixture
async def texts(connection: AsyncConnection) -> AsyncConnection:
    await fill(connection, [row(number, text=content) for number, content in TEXTS.items()])
    return connection
