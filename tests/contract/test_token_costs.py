"""What a client pays, in tokens, for the lists of tools and for answers to fixed calls."""

import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastmcp import Client
from mcp_types import TextContent

from services.core.engine.engine import open_engine
from services.core.memories.client import RemoteMemories
from services.core.serving.mcp.server import build
from services.core.serving.metrics import Metrics
from services.core.serving.service import Service
from services.core.settings import Settings
from services.indexer.service import open_indexer
from services.memory.service import open_memory
from tests.support.corpus import FILES

COSTS = Path(__file__).parents[1] / "golden" / "token_costs.json"
CHARACTERS_PER_TOKEN = 4
LEAN_TOOLS = 8  # of a server
LEAN_TOKENS = 3_000  # of both servers
ALL_TOKENS = 16_000  # of both servers, with every tool
SLACK = 10  # tokens of an answer: times and identifiers have no fixed length
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "indexer": [
        ("qdrant_index", {}),
        ("repo_search", {"query": "how are failed calls retried", "limit": 10}),
        ("exact_search", {"pattern": "retry"}),
        ("read_code", {"name": "RetryPolicy"}),
        ("context_answer", {"query": "how are failed calls retried"}),
        ("qdrant_index_root", {}),
        ("qdrant_prune", {}),
        ("qdrant_status", {}),
        ("qdrant_list", {}),
        ("workspace_info", {}),
        ("collection_map", {}),
        ("set_session_defaults", {"collection": "codebase"}),
    ],
    "memory": [
        ("store", {"information": "Retries wait with jitter.", "metadata": {"kind": "pattern"}}),
        ("find", {"query": "jitter"}),
        ("list_memories", {}),
        ("store_context", {"thread_id": "one", "source": "user", "text": "We retry with jitter."}),
        ("search_context", {"thread_id": "one"}),
        ("fts_search_context", {"query": "jitter"}),
        ("semantic_search_context", {"query": "jitter"}),
        ("hybrid_search_context", {"query": "jitter"}),
        ("list_threads", {}),
        ("get_statistics", {}),
        ("add_message", {"contextId": "one", "role": "user", "message": "Retry with jitter."}),
        ("retrieve_context", {"contextId": "one"}),
        ("ping", {}),
    ],
}


@contextlib.asynccontextmanager
async def served(
    server: str, folder: Path, toolset: str
) -> AsyncIterator[tuple[Client[Any], Service]]:
    """Open one of the servers in this process, and a client to it."""
    settings = Settings(
        data_dir=folder / f"{server}-{toolset}", workspace=folder / "shop", toolsets=(toolset,)
    )
    async with contextlib.AsyncExitStack() as stack:
        model = settings.code_model if server == "indexer" else settings.memory_model
        engine = await stack.enter_async_context(open_engine(settings, model))
        service: Service
        if server == "indexer":
            memories = RemoteMemories("http://127.0.0.1:9/mcp", None)
            opened = open_indexer(settings, engine, memories)
            service = (await stack.enter_async_context(opened)).service
        else:
            service = (await stack.enter_async_context(open_memory(settings, engine))).service
        mcp: Any = build(service, settings, Metrics(server, {}))
        yield await stack.enter_async_context(Client(mcp)), service


async def listed(client: Client[Any]) -> dict[str, Any]:
    """Return the listed tools by name, as they are sent."""
    tools = await client.list_tools()
    return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in tools}


def tokens(text: str) -> int:
    return len(text) // CHARACTERS_PER_TOKEN


async def answers(client: Client[Any], server: str, folder: Path) -> dict[str, int]:
    """Return the cost of the answer to each fixed call, without the name of the test's folder."""
    costs = {}
    for name, arguments in CALLS[server]:
        content = (await client.call_tool(name, arguments)).content
        text = "".join(block.text for block in content if isinstance(block, TextContent))
        assert text, name
        costs[f"answer of {name}"] = tokens(text.replace(str(folder), ""))
    return costs


async def server_costs(server: str, folder: Path) -> dict[str, int]:
    """Return the costs of a server's answers, of all its tools, and of each toolset."""
    async with served(server, folder, "all") as (client, service):
        tools = await listed(client)
        costs = await answers(client, server, folder)
    costs[f"tools of {server}, all"] = tokens(json.dumps(list(tools.values())))
    for toolset in sorted(service.toolsets):
        bodies = [tools[tool.name] for tool in service.tools if tool.toolset == toolset]
        costs[f"tools of {server}, {toolset}"] = tokens(json.dumps(bodies))
    async with served(server, folder, "lean") as (client, _):
        lean = await listed(client)
    assert 0 < len(lean) <= LEAN_TOOLS
    costs[f"tools of {server}, lean"] = tokens(json.dumps(list(lean.values())))
    return costs


async def test_no_list_and_no_answer_grows_unnoticed(tmp_path: Path) -> None:
    """Run with UPDATE_GOLDEN=1 to write the costs anew; the change is then seen in the diff."""
    for name, text in FILES.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    costs = {**await server_costs("indexer", tmp_path), **await server_costs("memory", tmp_path)}
    if os.environ.get("UPDATE_GOLDEN"):
        COSTS.write_text(json.dumps(costs, indent=2) + "\n")
    committed = json.loads(COSTS.read_text())
    assert costs.keys() == committed.keys()
    slack = {name: SLACK if name.startswith("answer") else 0 for name in costs}
    grown = {name: cost for name, cost in costs.items() if cost > committed[name] + slack[name]}
    assert grown == {}
    servers = ("indexer", "memory")
    assert sum(costs[f"tools of {server}, lean"] for server in servers) <= LEAN_TOKENS
    assert sum(costs[f"tools of {server}, all"] for server in servers) <= ALL_TOKENS
