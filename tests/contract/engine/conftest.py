"""One memory server in this process for each database, spoken to over MCP."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from ctx_core.settings import Settings
from tests.support.contract import Collection, Tools, database_url, memory_tools

__all__ = ["database_url"]


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def tools(
    database_url: str | None, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Tools]:
    data_dir = tmp_path_factory.mktemp("contract") / "data"
    async with memory_tools(Settings(data_dir=data_dir, database_url=database_url)) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="package")
async def collection(tools: Tools) -> Collection:
    """A collection of its own, by a session."""
    return await Collection.open(tools)
