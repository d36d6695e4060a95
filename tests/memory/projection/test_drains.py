"""What takes long to embed is found by words at once, and by meaning when it is embedded."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from ctx_core.engine.engine import Engine
from ctx_memory.projection import drains
from ctx_memory.service import MemoryServer
from tests.support.threads import engine, opened, search_request, settings, threads

__all__ = ["engine", "opened", "settings", "threads"]


async def test_words_find_what_is_still_being_embedded(
    opened: tuple[MemoryServer, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, engine = opened
    monkeypatch.setattr(drains, "MAX_WAIT_SECONDS", 0.05)
    go_on = threading.Event()
    embed = engine.embedder.embed_documents

    def held(texts: Sequence[str]) -> object:
        go_on.wait(30)
        return embed(texts)

    monkeypatch.setattr(engine.embedder, "embed_documents", held)
    stored = await memory.memories.store("the quarterly heron count", None)
    assert "vectors take longer" in stored["degraded"][0]
    tools = {tool.name: tool.run for tool in memory.service.tools}
    added = await tools["store_context"]("t", "user", "the annual stork count")
    assert "vectors take longer" in added["warnings"][0]
    found = await tools["find"]("heron count")
    assert found["results"][0]["id"] == stored["id"]
    body = await memory.threads.hybrid.search("stork count", None, None, search_request())
    assert [hit["id"] for hit in body["results"]] == [added["context_id"]]
    go_on.set()
    await memory.storage.outbox.drain()
    await asyncio.sleep(0.05)  # until the callers' drains have ended too
    assert not memory.storage.outbox.is_behind
    body = await memory.threads.hybrid.search("stork count", None, None, search_request())
    assert body["results"][0]["scores"]["semantic_rank"] == 1
