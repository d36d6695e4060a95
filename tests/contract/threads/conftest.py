"""One memory server in this process for each database, and threads of it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from ctx_core.settings import Settings
from tests.support.contract import Thread, Tools, database_url, memory_tools
from tests.support.thread_samples import ENTRIES

__all__ = ["database_url"]


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def tools(
    database_url: str | None, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Tools]:
    """Small image limits, so that exceeding them is cheap."""
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("contract") / "data",
        database_url=database_url,
        max_image_size_mb=0.001,
    )
    async with memory_tools(settings) as opened:
        yield opened


@pytest.fixture
def thread(tools: Tools) -> Thread:
    """A thread that nothing is in yet."""
    return Thread(tools)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def filled(tools: Tools) -> Thread:
    """A thread with the samples in it, which tests only read."""
    thread = Thread(tools)
    entries = [{"source": "user", "thread_id": thread.id, **entry} for entry in ENTRIES]
    await tools.call("store_context_batch", entries=entries)
    return thread
