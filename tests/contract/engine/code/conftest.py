"""One indexer server in this process, spoken to over MCP, with an indexed workspace."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client
from mcp_types import TextContent

from ctx_core.engine.engine import open_engine
from ctx_core.memories.client import RemoteMemories
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer
from tests.support.corpus import FILES
from tests.support.repositories import Repository

MORE = {
    "src/orders/models.py": '''"""Orders."""

MAX_LINES = 20


class Order:
    """An order of a customer."""

    limit = MAX_LINES

    def total(self) -> int:
        return sum(line.total() for line in self.lines)

    def cancel(self) -> None:
        raise OrderError("orders.E028", self)


class Line:
    def total(self) -> int:
        return self.amount * self.price
''',
    "src/orders/views.py": """from orders.models import Order


def show(order: Order) -> str:
    return f"{order.total()} of {Order.limit}"
""",
    "src/billing/charging.py": '''def charge_customer(amount: int) -> str:
    """Charge the customer."""
    return receipt(amount)


def receipt(amount: int) -> str:
    """Write what was paid."""
    return f"paid {amount}"
''',
    "src/billing/latest.py": """from billing.charging import charge_customer


def charge_latest(amounts):
    return charge_customer(amounts[-1])
""",
    "src/billing/checks/test_charging.py": """from billing.charging import charge_customer


def test_one():
    assert charge_customer(1) == "paid 1"


def test_another():
    assert charge_customer(2) == "paid 2"
""",
}


@dataclass(frozen=True)
class Engine:
    """A client of the server and the folder that is indexed."""

    client: Client[Any]
    workspace: Path

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; returns the structured content, also of an error."""
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def text(self, tool: str, **arguments: Any) -> str:
        """Call a tool; returns the text content."""
        result = await self.client.call_tool(tool, arguments)
        [block] = result.content
        assert isinstance(block, TextContent)
        return block.text


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = Repository.create(tmp_path_factory.mktemp("engine") / "shop")
    for name, text in {**FILES, **MORE}.items():
        file = repository.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    repository.git("add", "-A")
    return repository.root


@contextlib.asynccontextmanager
async def open_client(settings: Settings) -> AsyncIterator[Engine]:
    """Open the indexer in this process, index its workspace, and yield a client of it."""
    memories = RemoteMemories("http://127.0.0.1:9/mcp", None)
    async with (
        open_engine(settings, settings.code_model) as parts,
        open_indexer(settings, parts, memories) as indexer,
    ):
        server: Any = build(indexer.service, settings, Metrics("indexer", {}))
        async with Client(server) as client:
            opened = Engine(client, settings.workspace)
            assert (await opened.call("qdrant_index"))["ok"]
            yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), workspace=workspace)
    async with open_client(settings) as opened:
        yield opened
