"""`context_search` over MCP: code and memories on one scale."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client

from ctx_core.engine.engine import open_engines
from ctx_core.memories.metadata import Metadata
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer
from ctx_memory.service import open_memory
from tests.contract.engine.code.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUERY = "how do failed calls wait before they are retried"
NOTE = "Failed calls wait with jitter before they are retried, because clients came in lockstep."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("both"), workspace=workspace)
    async with (
        open_engines(settings) as engines,
        open_memory(settings, engines.memory) as memory,
        open_indexer(settings, engines.code, memory.memories) as indexer,
    ):
        old = datetime.now(UTC) - timedelta(days=1)
        await memory.memories.store(NOTE, Metadata(kind="pattern"))
        await memory.memories.store(f"{NOTE} Expired.", Metadata(expires_at=old))
        await memory.memories.store("The office is closed on Friday.", None)
        server: Any = build(indexer.service, settings, Metrics("indexer", {}))
        async with Client(server) as client:
            opened = Engine(client, workspace)
            assert (await opened.call("qdrant_index"))["ok"]
            yield opened


async def test_both_sources_in_the_order_of_their_scores(both: Engine) -> None:
    found = await both.call("context_search", query=QUERY)
    assert set(found) == {"ok", "results", "total", "sources", "query"}
    assert set(found["sources"]) == {"code", "memory"}
    scores = [hit["score"] for hit in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    memories = [hit for hit in found["results"] if hit["source"] == "memory"]
    assert memories[0]["information"] == NOTE
    assert set(memories[0]) == {"source", "score", "id", "information", "metadata"}
    assert memories[0]["score"] > 0.5
    assert not any("Expired" in hit["information"] for hit in memories)
    code = [hit for hit in found["results"] if hit["source"] == "code"]
    assert code[0]["path"] == "src/net/retry.py"
    text = await both.text("context_search", query=QUERY)
    assert f"memory {memories[0]['id']}\n{NOTE}" in text
    assert "src/net/retry.py:" in text


async def test_weights_and_limits(both: Engine) -> None:
    plain = await both.call("context_search", query=QUERY)
    score = {hit["id"]: hit["score"] for hit in plain["results"] if hit["source"] == "memory"}
    half = await both.call("context_search", query=QUERY, memory_weight=0.5)
    for hit in half["results"]:
        if hit["source"] == "memory":
            assert hit["score"] == pytest.approx(score[hit["id"]] / 2, abs=0.001)
    limits = {"code": 1, "memory": 1}
    found = await both.call("context_search", query=QUERY, per_source_limits=limits)
    assert sorted(hit["source"] for hit in found["results"]) == ["code", "memory"]
    found = await both.call("context_search", query=QUERY, include_memories=False)
    assert found["sources"] == ["code"]
    assert "memory_note" not in found


async def test_what_nothing_answers_is_less_sure(both: Engine) -> None:
    asked = await both.call("context_search", query=QUERY)
    other = await both.call("context_search", query="parse the header of a bitmap image")
    assert other["results"][0]["score"] < asked["results"][0]["score"]


async def test_without_memories_the_answer_says_so(engine: Engine) -> None:
    found = await engine.call("context_search", query=QUERY)
    assert found["sources"] == ["code"]
    assert found["memory_note"] == "memories: none are stored yet"
    assert "memories: none are stored yet" in await engine.text("context_search", query=QUERY)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("memory_weight", -1),
        ("per_source_limits", {"code": -1}),
        ("per_source_limits", {"web": 3}),
        ("kind", "fnction"),
    ],
)
async def test_wrong_values_name_their_field(engine: Engine, field: str, value: object) -> None:
    body = await engine.call("context_search", query="order", **{field: value})
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"].startswith(field)
