"""What a client pays, in tokens, for the lists of tools and for answers to fixed calls."""

import contextlib
import json
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from fastmcp import Client
from mcp_types import TextContent

from services.core.engine.engine import open_engine
from services.core.memories.client import RemoteMemories
from services.core.serving.mcp.server import build
from services.core.serving.metrics import Metrics
from services.core.settings import Settings
from services.indexer.service import open_indexer
from tests.support.contract import memory_tools
from tests.support.corpus import FILES

COSTS = Path(__file__).parents[1] / "golden" / "token_costs.json"
CHARACTERS_PER_TOKEN = 4
LEAN_TOOLS = 8  # of a server
LEAN_TOKENS = 3_000  # of both servers
ALL_TOKENS = 16_000  # of both servers, with every tool
CALLS: dict[str, dict[str, Any]] = {
    "repo_search": {"query": "how are failed calls retried", "limit": 10},
    "exact_search": {"pattern": "retry"},
    "read_code": {"name": "RetryPolicy"},
}


@contextlib.asynccontextmanager
async def indexer(folder: Path, toolset: str) -> AsyncIterator[Client[Any]]:
    settings = Settings(data_dir=folder / "data", workspace=folder / "shop", toolsets=(toolset,))
    memories = RemoteMemories("http://127.0.0.1:9/mcp", None)
    async with (
        open_engine(settings, settings.code_model) as engine,
        open_indexer(settings, engine, memories) as opened,
    ):
        server: Any = build(opened.service, settings, Metrics("indexer", {}))
        async with Client(server) as client:
            yield client


async def listed(client: Client[Any]) -> tuple[int, int]:
    """Return how many tools are listed, and their tokens."""
    tools = await client.list_tools()
    bodies = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    return len(tools), tokens(json.dumps(bodies))


def tokens(text: str) -> int:
    return len(text) // CHARACTERS_PER_TOKEN


async def answers(client: Client[Any]) -> dict[str, int]:
    await client.call_tool("qdrant_index", {})
    costs = {}
    for name, arguments in CALLS.items():
        [block] = (await client.call_tool(name, arguments)).content
        assert isinstance(block, TextContent)
        costs[f"answer of {name}"] = tokens(block.text)
    return costs


async def test_no_list_and_no_answer_grows_unnoticed(tmp_path: Path) -> None:
    """Run with UPDATE_GOLDEN=1 to write the costs anew; the change is then seen in the diff."""
    for name, text in FILES.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    costs: dict[str, int] = {}
    counts: dict[str, list[tuple[int, int]]] = {}
    for toolset in ("all", "lean"):
        async with indexer(tmp_path, toolset) as client:
            counted = [await listed(client)]
            if toolset == "all":
                costs |= await answers(client)
        data = Settings(data_dir=tmp_path / f"memory-{toolset}", toolsets=(toolset,))
        async with memory_tools(data) as opened:
            counted.append(await listed(opened.client))
        costs |= lists(toolset, counted)
        counts[toolset] = counted
    if os.environ.get("UPDATE_GOLDEN"):
        COSTS.write_text(json.dumps(costs, indent=2) + "\n")
    committed = json.loads(COSTS.read_text())
    assert costs.keys() == committed.keys()
    grown = {name: cost for name, cost in costs.items() if cost > committed[name]}
    assert grown == {}
    assert all(0 < count <= LEAN_TOOLS for count, _ in counts["lean"])
    assert sum(cost for _, cost in counts["lean"]) <= LEAN_TOKENS
    assert sum(cost for _, cost in counts["all"]) <= ALL_TOKENS


def lists(toolset: str, counted: Sequence[tuple[int, int]]) -> dict[str, int]:
    servers = ("indexer", "memory")
    return {
        f"tools of {server}, {toolset}": cost
        for server, (_, cost) in zip(servers, counted, strict=True)
    }
