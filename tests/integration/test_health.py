"""The health ports of real servers."""

from pathlib import Path

import httpx

from tests.support.processes import Server, environment, running

OTHER_HEALTH = ("memory_sse", "indexer_sse")


def test_readiness_names_every_part(server: Server) -> None:
    memory = httpx.get(f"{server.memory_health}/readyz").json()
    assert memory == {
        "ok": True,
        "service": "memory",
        "checks": {
            "qdrant": "ok",
            "sql": "ok",
            "embedding": "ok",
            "entries": "ok",
            "background": "ok",
        },
        "advice": [],
    }
    assert httpx.get(f"{server.indexer_health}/readyz").json()["service"] == "indexer"


def test_all_four_health_ports_answer(server: Server) -> None:
    for name in ("MEMORY_HTTP", "MEMORY_SSE", "INDEXER_HTTP", "INDEXER_SSE"):
        port = int(server.env[f"CTX_{name}_PORT"]) + 10_000
        assert httpx.get(f"http://127.0.0.1:{port}/livez").json()["ok"]


def test_tools_are_described(server: Server) -> None:
    tools = {t["name"]: t for t in httpx.get(f"{server.memory_health}/tools").json()["tools"]}
    assert set(tools) >= {"store", "find", "list_memories", "set_session_defaults"}
    assert tools["find"]["annotations"]["readOnlyHint"] is True
    assert "query" in tools["find"]["inputSchema"]["properties"]


def test_metrics_count_calls(server: Server) -> None:
    text = httpx.get(f"{server.memory_health}/metrics").text
    assert "ctx_outbox_waiting" in text
    assert "ctx_tool_call_seconds" in text


def test_not_ready_with_the_reason_while_qdrant_is_away(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9"
    with running(environment(tmp_path / "data", QDRANT_URL=url)) as started:
        answer = httpx.get(f"{started.memory_health}/readyz", timeout=10)
        assert answer.status_code == 503
        checks = answer.json()["checks"]
        assert "cannot be reached" in checks["qdrant"]
        assert url not in checks["qdrant"]  # clients need not know where it is
        assert checks["sql"] == checks["embedding"] == "ok"
        assert httpx.get(f"{started.memory_health}/livez").status_code == 200
