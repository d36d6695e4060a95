"""One memory server for each module, spoken to over MCP; a repository of its own for each test."""

import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client

from ctx_core.engine.engine import open_engine
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_memory.service import open_memory
from scripts.bench.fixtures.clones import bare, identify
from tests.support.qdrant import memory
from tests.support.repositories import Repository


@dataclass(frozen=True)
class Tools:
    """Calls tools for one project and reads their answers as an agent does: by their text."""

    client: Client[Any]
    repository: Repository

    @property
    def root(self) -> Path:
        return self.repository.root

    @property
    def folder(self) -> Path:
        return self.root / ".context-teleport"

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """The answer of a call that succeeds."""
        answer = await self._call(name, arguments)
        assert not answer.is_error, answer.content
        return self._text(answer)

    async def refused(self, name: str, /, **arguments: Any) -> str:
        """The message of a call that fails."""
        answer = await self._call(name, arguments)
        assert answer.is_error
        body = self._text(answer)
        assert body["status"] == "error"
        assert body == answer.structured_content
        return str(body["error"])

    async def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        return await self.client.call_tool_mcp(name, {"project": str(self.root), **arguments})

    @staticmethod
    def _text(answer: Any) -> Any:
        [content] = answer.content
        return json.loads(content.text)


@pytest.fixture(scope="module")
def area() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ctx-knowledge-", dir=memory()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(area: Path) -> AsyncIterator[Client[Any]]:
    (area / "projects").mkdir()
    settings = Settings(
        data_dir=area / "data", workspace=area / "projects", knowledge_push_on_stop=False
    )
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as opened,
    ):
        server: Any = build(opened.service, settings, Metrics("memory", {}))
        async with Client(server) as connected:
            yield connected


@pytest.fixture
def tools(client: Client[Any], area: Path) -> Tools:
    """The tools, for a repository that nothing is in yet."""
    root = Path(tempfile.mkdtemp(dir=area / "projects")) / "shop"
    return Tools(client, Repository.create(root))


@pytest.fixture
def clones(tools: Tools, client: Client[Any]) -> tuple[Tools, Tools]:
    """Two clones of an empty remote."""
    area = tools.root.parent
    remote = bare(area)
    found = []
    for name in ("one", "two"):
        tools.repository.git("clone", "-q", str(remote), str(area / name))
        identify(area / name)
        found.append(Tools(client, Repository(area / name)))
    return found[0], found[1]
