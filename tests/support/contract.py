"""Tools called through a real MCP client in this process, as the contract tests call them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

import pytest
from fastmcp import Client

from ctx_core.engine.engine import open_engine
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_memory.service import open_memory
from tests.support.postgres import execute, sibling

Body = Mapping[str, Any]
PROJECTION_SECONDS = 60.0  # far more than the points of a memory take on a busy machine


class Tools:
    """Calls a server's tools as a client does."""

    def __init__(self, client: "Client[Any]") -> None:
        self.client = client

    async def call(self, name: str, **arguments: Any) -> Any:
        """Return a tool's result; fail the test on an error."""
        result = await self.client.call_tool_mcp(name, arguments)
        body = result.structured_content
        assert not result.is_error, body
        assert body is not None
        unwrapped: Body = body["result"] if set(body) == {"result"} else body
        return unwrapped

    async def refused(self, name: str, **arguments: Any) -> Body:
        """Return the body of a tool's error; fail the test without an error."""
        result = await self.client.call_tool_mcp(name, arguments)
        body: Body | None = result.structured_content
        assert result.is_error, body
        assert body is not None
        assert body.keys() >= {"ok", "error", "error_code", "details"}
        assert body["ok"] is False
        return body


class Thread:
    """One thread of a server, empty at first."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.id = f"thread-{uuid4().hex[:12]}"

    async def store(self, text: str, source: str = "user", **more: Any) -> int:
        body = await self.tools.call(
            "store_context", thread_id=self.id, source=source, text=text, **more
        )
        return int(body["context_id"])

    async def search(self, name: str = "search_context", **arguments: Any) -> Any:
        return await self.tools.call(name, thread_id=self.id, **arguments)

    async def texts(self, name: str = "search_context", **arguments: Any) -> Sequence[str]:
        body = await self.search(name, **arguments)
        return [hit["text_content"] for hit in body["results"]]

    async def read(self, context_id: int) -> Any:
        [entry] = await self.tools.call("get_context_by_ids", context_ids=[context_id])
        return entry


class Collection:
    """A collection of memories of its own, empty at first, chosen by a session."""

    def __init__(self, tools: Tools, name: str, session: str) -> None:
        self.tools = tools
        self.name = name
        self.session = session

    @classmethod
    async def open(cls, tools: Tools) -> "Collection":
        name = f"memories-{uuid4().hex[:12]}"
        first = await tools.call("store", information="makes the collection", collection=name)
        body = await tools.call("set_session_defaults", collection=name, session=f"of-{name}")
        await tools.call("delete_memory", memory_ids=first["id"])
        return cls(tools, name, body["session"])

    async def store(self, information: str, **metadata: Any) -> str:
        body = await self.tools.call(
            "store", information=information, metadata=metadata or None, session=self.session
        )
        id_ = str(body["id"])
        if "degraded" in body:  # a busy machine: the points follow
            await self._until_found(information, id_)
        return id_

    async def _until_found(self, information: str, id_: str) -> None:
        async with asyncio.timeout(PROJECTION_SECONDS):
            while True:
                result = await self.tools.client.call_tool_mcp(
                    "find", {"query": information, "session": self.session, "limit": 100}
                )
                body = result.structured_content or {}
                if id_ in [hit["id"] for hit in body.get("results", [])]:
                    return
                await asyncio.sleep(0.1)

    async def find(self, query: str, **arguments: Any) -> Any:
        return await self.tools.call("find", query=query, session=self.session, **arguments)

    async def list(self, **arguments: Any) -> Any:
        return await self.tools.call("list_memories", session=self.session, **arguments)


@contextlib.asynccontextmanager
async def memory_tools(settings: Settings) -> AsyncIterator[Tools]:
    """Open a memory server in this process and a client to it."""
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        server: Any = build(memory.service, settings, Metrics("memory", {}))
        async with Client(server) as client:
            yield Tools(client)


@pytest.fixture(scope="package", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """An empty database of each kind in turn; None is the SQLite file of the data folder."""
    if request.param == "sqlite":
        yield None
        return
    server: str = request.getfixturevalue("postgres_server")
    name = f"contract_{uuid4().hex[:12]}"
    execute(server, f"CREATE DATABASE {name} STRATEGY file_copy")
    yield sibling(server, name)
    execute(server, f"DROP DATABASE {name} WITH (FORCE)")
