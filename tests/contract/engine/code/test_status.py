"""`qdrant_status` of every collection in a store that both servers use."""

import contextlib
from pathlib import Path
from typing import Any

from fastmcp import Client

from ctx_core.engine.engine import open_engines
from ctx_core.memories.client import RemoteMemories
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer
from ctx_memory.service import open_memory

STORED: list[tuple[str, dict[str, Any]]] = [
    ("store", {"information": "Retries wait with jitter."}),
    ("store_context", {"thread_id": "one", "source": "user", "text": "We retry with jitter."}),
    ("add_message", {"contextId": "one", "role": "user", "message": "Retry with jitter."}),
    ("context_add_knowledge", {"key": "retries", "content": "Retries wait with jitter."}),
    ("context_search", {"query": "jitter"}),  # the collection is written before the first search
]


async def test_the_status_of_every_listed_collection(workspace: Path, tmp_path: Path) -> None:
    settings = Settings(
        data_dir=tmp_path / "data", workspace=workspace, knowledge_push_on_stop=False
    )
    remote = RemoteMemories("http://127.0.0.1:9/mcp", None)
    async with contextlib.AsyncExitStack() as stack:
        engines = await stack.enter_async_context(open_engines(settings))
        memory = await stack.enter_async_context(open_memory(settings, engines.memory))
        indexer = await stack.enter_async_context(open_indexer(settings, engines.code, remote))
        notes: Any = build(memory.service, settings, Metrics("memory", {}))
        code: Any = build(indexer.service, settings, Metrics("indexer", {}))
        writer = await stack.enter_async_context(Client(notes))
        reader = await stack.enter_async_context(Client(code))
        for tool, arguments in STORED:
            await writer.call_tool(tool, arguments)
        await reader.call_tool("qdrant_index", {})
        listed = await answer(reader, "qdrant_list")
        names = {row["name"] for row in listed["collections"]}
        assert names >= {
            settings.collection_name,
            settings.memory_collection_name,
            settings.threads_collection_name,
            settings.knowledge_collection_name,
            settings.conversations_collection_name,
        }
        for row in listed["collections"]:
            status = await answer(reader, "qdrant_status", collection=row["name"])
            check_status(status, row, settings)


async def answer(client: Client[Any], tool: str, **arguments: Any) -> dict[str, Any]:
    body = (await client.call_tool(tool, arguments)).structured_content
    assert isinstance(body, dict)
    return body


def check_status(status: dict[str, Any], row: dict[str, Any], settings: Settings) -> None:
    """Check the figures of a collection; only chunks of code have times."""
    is_code = row["name"] == settings.collection_name
    assert (status["ok"], status["exists"]) == (True, True)
    assert status["count"] == row["points_count"]
    assert status["scanned_points"] == (status["count"] if is_code else 0)
    assert (status["last_ingested_at"] is not None) == is_code
    assert set(status["vectors_config"]) == {"dense"}
    # Counted by the engine: every point has a dense vector. Nothing optimizes in it.
    assert row["vectors_count"] == row["points_count"]
    assert (row["status"], row["optimizer_status"]) == ("green", None)
    assert status["vectors_config"]["dense"] > 0
    assert status["storage_size_mb"] > 0
    assert status["status"] == "healthy"
