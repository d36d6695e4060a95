"""`info_request` over MCP: sentences, smart limits, explanation, relationships, defaults."""

from pathlib import Path

import pytest

from ctx_core.engine.engine import Engine as Parts
from ctx_core.engine.engine import open_engine
from ctx_core.memories.client import RemoteMemories
from ctx_core.serving.mcp.calls import call_in_process
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer
from ctx_indexer.tools.questions.info_request import smart_limit
from tests.contract.engine.code.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_each_result_is_a_sentence(engine: Engine) -> None:
    found = await engine.call("info_request", info_request="the total of an order", limit=3)
    assert set(found) == {"ok", "results", "total", "search_strategy"}
    assert found["search_strategy"] == "hybrid"
    hit = found["results"][0]
    assert set(hit) == {
        "score",
        "path",
        "symbol",
        "start_line",
        "end_line",
        "information",
        "relevance_score",
        "snippet",
    }
    name = hit["path"].rpartition("/")[2]
    lines = f"(lines {hit['start_line']}-{hit['end_line']})"
    assert hit["information"] == f"Found '{hit['symbol']}' in {name} {lines}"
    assert hit["relevance_score"] == hit["score"]
    text = await engine.text("info_request", info_request="the total of an order", limit=1)
    assert text.startswith(f"{hit['path']}:{hit['start_line']}-{hit['end_line']} {hit['symbol']}\n")


async def test_the_alias(engine: Engine) -> None:
    one = await engine.call("info_request", information_request="connection pool")
    other = await engine.call("info_request", info_request="connection pool")
    assert one == other


async def test_an_explanation(engine: Engine) -> None:
    found = await engine.call(
        "info_request", info_request="ConnectionPool", include_explanation=True, language="python"
    )
    paths = list(dict.fromkeys(hit["path"] for hit in found["results"]))
    assert found["summary"] == (
        f"Found {len(found['results'])} results related to 'ConnectionPool' "
        f"across {len(paths)} files"
    )
    assert found["primary_locations"] == paths[:5]
    assert found["primary_locations"][0] == "src/net/pool.py"
    group = found["grouped_results"]["by_file"]["src/net/pool.py"]
    assert "ConnectionPool" in group["top_symbols"]
    assert group["count"] == sum(hit["path"] == "src/net/pool.py" for hit in found["results"])
    assert found["confidence"]["level"] == "high"
    assert found["confidence"]["symbol_matches"] >= 1
    assert found["confidence"]["top_score"] == found["results"][0]["score"]
    assert found["query_understanding"] == {
        "intent": "find_definition",
        "detected_language": "python",
        "detected_symbols": ["ConnectionPool"],
        "search_strategy": "hybrid+lang:python",
    }
    assert found["related_concepts"]


async def test_relationships(engine: Engine) -> None:
    found = await engine.call(
        "info_request",
        info_request="create a signed session cookie",
        include_relationships=True,
        limit=1,
        under="src/auth",
    )
    assert found["search_strategy"] == "hybrid+path_filtered"
    [hit] = found["results"]
    assert hit["symbol"] == "createSession"
    related = hit["relationships"]
    assert "./token" in related["imports_from"]
    assert "sign" in related["calls"]
    assert "verify" not in related["calls"]
    assert related["symbol_path"] == "createSession"
    assert related["related_paths"] == ["src/auth/token.ts"]


async def test_wrong_values_name_their_field(engine: Engine) -> None:
    body = await engine.call("info_request", limit=3)
    assert body["details"]["field"] == "info_request"
    for field, value in {"limit": 0, "language": "pythn", "context_lines": 51}.items():
        body = await engine.call("info_request", info_request="order", **{field: value})
        assert body["details"]["field"] == field


async def test_limits_follow_the_request() -> None:
    assert smart_limit("order total", 10) == 15
    assert smart_limit("how does the pool wait", 10) == 8
    assert smart_limit("waiting for a free connection", 12) == 12


async def test_defaults_come_from_the_environment(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFO_REQUEST_LIMIT", "2")
    monkeypatch.setenv("INFO_REQUEST_CONTEXT_LINES", "0")
    monkeypatch.setenv("INFO_REQUEST_EXPLAIN_DEFAULT", "1")
    monkeypatch.setenv("INFO_REQUEST_RELATIONSHIPS", "1")
    settings = Settings(data_dir=tmp_path, workspace=workspace)
    parts: Parts
    async with (
        open_engine(settings, settings.code_model) as parts,
        open_indexer(settings, parts, RemoteMemories("http://127.0.0.1:9/mcp", None)) as indexer,
    ):
        await call_in_process(indexer.service, settings, "qdrant_index", {})
        request = {"info_request": "waiting for a free connection"}
        found = await call_in_process(indexer.service, settings, "info_request", request)
    assert len(found["results"]) == 2
    assert "summary" in found
    first = found["results"][0]
    assert "relationships" in first
    assert first["snippet"].startswith(f"{first['start_line']}\t")
