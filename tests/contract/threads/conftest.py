"""One memory server in this process, spoken to over MCP, for each module and database."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from fastmcp import Client

from services.core.engine.engine import open_engine
from services.core.serving.mcp.server import build
from services.core.serving.metrics import Metrics
from services.core.settings import Settings
from services.memory.service import open_memory
from tests.support.postgres import execute, sibling
from tests.support.thread_clients import Thread, Tools


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """None is the SQLite file of the data folder."""
    if request.param == "sqlite":
        yield None
        return
    server: str = request.getfixturevalue("postgres_server")
    name = f"contract_{uuid4().hex[:12]}"
    execute(server, f"CREATE DATABASE {name} STRATEGY file_copy")
    yield sibling(server, name)
    execute(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def settings(database_url: str | None, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Small image limits, so that exceeding them is cheap."""
    return Settings(
        data_dir=tmp_path_factory.mktemp("contract") / "data",
        database_url=database_url,
        max_image_size_mb=0.001,
        max_total_size_mb=0.002,
        chunk_size=400,
        chunk_overlap=40,
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tools(settings: Settings) -> AsyncIterator[Tools]:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        server: Any = build(memory.service, settings, Metrics("memory", {}))
        async with Client(server) as client:
            yield Tools(client)


@pytest.fixture
def thread(tools: Tools) -> Thread:
    """A thread that nothing is in yet."""
    return Thread(tools)
