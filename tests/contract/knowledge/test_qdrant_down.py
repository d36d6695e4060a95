"""Knowledge while Qdrant is down: it is written, read, shared, and searched by words."""

import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from ctx_core.engine.engine import open_engine
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_memory.service import open_memory
from scripts.bench.fixtures.clones import bare, identify
from scripts.bench.fixtures.repositories import Repository
from tests.contract.knowledge.conftest import Tools

CLOSED_PORT = "http://127.0.0.1:9"  # the discard port: nothing listens there


@pytest.fixture
async def down(tmp_path: Path) -> AsyncIterator[Tools]:
    """The tools of a server whose Qdrant does not answer, in a clone with a remote."""
    root = tmp_path / "shop"
    subprocess.run(["git", "clone", "-q", str(bare(tmp_path)), str(root)], check=True)  # noqa: ASYNC221
    identify(root)
    settings = Settings(
        data_dir=tmp_path / "data",
        workspace=root,
        qdrant_url=CLOSED_PORT,
        knowledge_push_on_stop=False,
    )
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as opened,
    ):
        server: Any = build(opened.service, settings, Metrics("memory", {}))
        async with Client(server) as client:
            yield Tools(client, Repository(root))


async def test_everything_but_meaning_works_without_qdrant(down: Tools) -> None:
    added = await down.call("context_add_knowledge", key="queue", content="One worker reads it.")
    assert added == {"status": "ok", "key": "queue"}
    await down.call("context_add_knowledge", key="own", content="My worker.", scope="private")
    await down.call("context_record_decision", title="One worker")
    assert await down.call("context_get", dotpath="knowledge.queue") == "One worker reads it."
    [state] = await down.client.read_resource("context://summary")
    assert json.loads(state.text)["knowledge_count"] == 2  # type: ignore[union-attr]
    hits = await down.call("context_search", query="worker")
    assert {hit["key"] for hit in hits} == {"queue", "own", "0001-one-worker"}
    for hit in hits:
        assert hit["degraded"].startswith("words only: ")
    assert (await down.call("context_sync_push"))["status"] == "pushed"
    assert (await down.call("context_sync_pull"))["status"] == "up_to_date"
    assert "queue.md" in down.repository.git("ls-tree", "-r", "--name-only", "origin/main")


async def test_a_search_that_words_cannot_answer_fails_and_says_why(down: Tools) -> None:
    await down.call("context_add_knowledge", key="queue", content="One worker reads it.")
    answer = await down.client.call_tool_mcp("context_search", {"query": "zebra in the dark"})
    assert answer.is_error
    assert "Qdrant" in answer.structured_content["error"]
