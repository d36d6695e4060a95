"""Starting, stopping, crashing and sharing, as processes do."""

import asyncio
import contextlib
import json
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastmcp import Client

from tests.support.processes import Server, environment, run_ctx, running

KILLS = 3
STORES_PER_ROUND = 20
MEMORY = ("-m", "ctx_memory")
CLIENTS, CALLS_EACH = 16, 15


async def call(url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async with Client(url) as client:
        answer = await client.call_tool(tool, arguments)
        body: dict[str, Any] | None = answer.structured_content
        assert body is not None
        return body


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly_even_with_a_stream_open(
    tmp_path: Path, how: signal.Signals
) -> None:
    env = environment(tmp_path / "data")
    with running(env) as server, httpx.stream("GET", server.memory_sse) as stream:
        assert stream.status_code == 200
        assert server.stop(how) == 0
        assert "Traceback" not in server.stderr()


async def test_kill_loses_no_acknowledged_memory(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    acknowledged: set[str] = set()

    async def store_until_killed(server: Server, number: int) -> None:
        async with Client(server.memory_http) as client:
            for index in range(STORES_PER_ROUND):
                text = f"note {number} {index}"
                await client.call_tool("store", {"information": text})
                acknowledged.add(text)
                if index == STORES_PER_ROUND - 5 + number % 5:
                    server.kill()

    for number in range(KILLS):
        with running(env, *MEMORY) as server:
            with contextlib.suppress(Exception):  # whatever the client makes of a dead server
                await store_until_killed(server, number)
            assert server.process.returncode == -signal.SIGKILL
    with running(env, *MEMORY) as server:
        answer = await call(server.memory_http, "find", query="note", limit=100)
    found = {hit["information"] for hit in answer["results"]}
    assert len(acknowledged) >= KILLS * (STORES_PER_ROUND - 5)
    assert acknowledged <= found


def test_a_second_process_is_told_who_is_first(server: Server) -> None:
    others = environment(Path(server.env["CTX_DATA_DIR"]))
    second = run_ctx(others, "up")
    assert second.returncode == 3
    assert f"process {server.process.pid}" in second.stderr
    assert "CTX_DATA_DIR" in second.stderr
    assert "QDRANT_URL" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_taken_port_is_named(server: Server, tmp_path: Path) -> None:
    env = dict(server.env) | {"CTX_DATA_DIR": str(tmp_path / "other")}
    second = run_ctx(env, "up")
    assert second.returncode == 2
    assert "is in use" in second.stderr
    assert "CTX_*_PORT" in second.stderr


def test_a_wrong_setting_stops_the_start(tmp_path: Path) -> None:
    for name, value in (("CTX_TOOLSETS", "nonsense"), ("CTX_HOTS", "x")):
        stopped = run_ctx(environment(tmp_path / "data", **{name: value}), "up")
        assert stopped.returncode == 2
        assert name in stopped.stderr
        assert "Traceback" not in stopped.stderr


async def test_the_indexer_stores_where_memory_finds(server: Server) -> None:
    stored = await call(server.indexer_http, "memory_store", information="said to the indexer")
    assert set(stored) == {"ok", "id", "message"}
    found = await call(server.memory_http, "find", query="said to the indexer", limit=1)
    assert found["results"][0]["id"] == stored["id"]
    listed = await call(server.indexer_http, "qdrant_list")
    (row,) = [c for c in listed["collections"] if c["name"] == "memories"]
    assert row["points_count"] >= 1
    assert set(row) == {
        "name",
        "vectors_count",
        "segments_count",
        "points_count",
        "indexed_vectors_count",
        "status",
        "optimizer_status",
    }


async def test_servers_apart_over_one_qdrant(tmp_path: Path, qdrant_url: str) -> None:
    env = environment(
        tmp_path / "memory",
        QDRANT_URL=qdrant_url,
        MEMORY_COLLECTION_NAME="memories-apart",
        CTX_AUTH_TOKENS="shared-token",
    )
    with (
        running(env, *MEMORY) as memory,
        running(env | {"CTX_DATA_DIR": str(tmp_path / "indexer")}, "-m", "ctx_indexer"),
    ):
        async with Client(memory.indexer_http, auth="shared-token") as client:
            stored = await client.call_tool("memory_store", {"information": "over MCP"})
            bad = await client.call_tool(
                "memory_store", {"information": "  "}, raise_on_error=False
            )
        async with Client(memory.memory_http, auth="shared-token") as client:
            found = await client.call_tool("find", {"query": "over MCP"})
    assert stored.structured_content is not None
    assert found.structured_content is not None
    assert found.structured_content["results"][0]["id"] == stored.structured_content["id"]
    assert bad.is_error
    assert bad.structured_content is not None
    assert bad.structured_content["error_code"] == "VALIDATION_ERROR"
    assert bad.structured_content["details"]["field"] == "information"


async def test_an_indexer_without_its_memory_server_says_so(tmp_path: Path) -> None:
    with running(environment(tmp_path / "data"), "-m", "ctx_indexer") as alone:
        async with Client(alone.indexer_http) as client:
            answer = await client.call_tool(
                "memory_store", {"information": "x"}, raise_on_error=False
            )
    assert answer.structured_content is not None
    assert answer.structured_content["error_code"] == "STORAGE_ERROR"
    assert "ctx up" in answer.structured_content["error"]
    assert "http" not in answer.structured_content["error"]  # no addresses in errors


async def test_many_clients_at_once_see_no_error(server: Server) -> None:
    async with Client(server.memory_http) as client:
        for number in range(20):
            await client.call_tool("store", {"information": f"shared note number {number}"})

    async def one_client() -> None:
        async with Client(server.memory_http) as client:
            for _ in range(CALLS_EACH):
                answer = await client.call_tool("find", {"query": "shared note number 7"})
                assert answer.structured_content is not None
                assert answer.structured_content["results"]

    await asyncio.gather(*(one_client() for _ in range(CLIENTS)))


def test_status_and_doctor_of_a_running_server(server: Server) -> None:
    env = dict(server.env)
    status = run_ctx(env, "status", "--json")
    assert status.returncode == 0, status.stderr
    assert all(s["ready"] for s in json.loads(status.stdout)["servers"])
    doctor = run_ctx(env, "doctor", "--json")
    assert doctor.returncode == 0, doctor.stdout
    findings = {f["check"]: f for f in json.loads(doctor.stdout)["findings"]}
    assert findings["memory server"]["state"] == "ok"
    assert str(server.process.pid) in findings["qdrant"]["detail"]
