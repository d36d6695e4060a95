"""A memory server in a process of its own, for each database, called over HTTP."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from fastmcp import Client

from tests.support.conversations import Rest
from tests.support.postgres import execute, sibling
from tests.support.processes import Server, environment, running


@pytest.fixture(scope="package", params=["sqlite", "postgresql"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """`python -m ctx_memory` with small thresholds; the indexer is not needed."""
    settings = {"IGNORE_PATTERNS": '["node_modules", "*.lock"]', "META_SUMMARY_THRESHOLD": "2"}
    name = f"conversations_{uuid4().hex[:12]}"
    postgres = ""
    if request.param == "postgresql":
        postgres = request.getfixturevalue("postgres_server")
        execute(postgres, f"CREATE DATABASE {name} STRATEGY file_copy")
        settings["DATABASE_URL"] = sibling(postgres, name)
    env = environment(tmp_path_factory.mktemp("conversations") / "data", **settings)
    config = '{"messageLimitThreshold": 4, "metaSummaryThreshold": 99}'
    with running(env, "-m", "ctx_memory", "--config", config) as started:
        yield started
    if postgres:
        execute(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="package")
def rest(server: Server) -> Iterator[Rest]:
    opened = Rest(server.rest)
    yield opened
    opened.client.close()


@pytest_asyncio.fixture
async def mcp(server: Server) -> AsyncIterator["Client[Any]"]:
    async with Client(server.memory_http) as client:
        yield client
