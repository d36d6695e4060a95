"""What an operator sees: JSON logs, metrics that the dashboard reads, traces at a collector."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from tests.support.processes import ROOT, environment, running

DASHBOARD = ROOT / "deploy" / "grafana" / "ctx.json"
METRIC = re.compile(r"\bctx_[a-z_]+")
SUFFIX = re.compile(r"_(bucket|sum|count|total)$")


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """An OTLP collector on loopback: its address, and what it was sent."""
    bodies: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            bodies.append(self.path.encode() + b" " + self.rfile.read(length))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Stay quiet."""

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    server.server_close()


async def metrics_at(url: str) -> str:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(f"{url}/metrics")).text


async def test_logs_metrics_and_traces(tmp_path: Path, collector: tuple[str, list[bytes]]) -> None:
    endpoint, bodies = collector
    env = environment(
        tmp_path / "data",
        CTX_LOG_FORMAT="json",
        OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
        OTEL_EXPORTER_OTLP_COMPRESSION="none",
        CTX_WORKSPACE=str(tmp_path),
    )
    with running(env) as server:
        headers = {"X-Request-Id": "from-a-proxy"}
        async with Client(StreamableHttpTransport(server.memory_http, headers)) as client:
            await client.call_tool("store", {"information": "Traces are sent to the collector."})
            await client.call_tool("find", {"query": "collector"})
            await client.call_tool("find", {"query": ""}, raise_on_error=False)
        shown = {
            "memory": await metrics_at(server.memory_health),
            "indexer": await metrics_at(server.indexer_health),
        }
        assert server.stop() == 0
        lines = [json.loads(line) for line in server.stderr().splitlines()]
    calls = [line for line in lines if line.get("tool") == "find"]
    assert [call["outcome"] for call in calls] == ["ok", "VALIDATION_ERROR"]
    assert all(call["request_id"] == "from-a-proxy" and call["ms"] > 0 for call in calls)
    assert 'ctx_engine_calls_total{operation="upsert",service="memory"}' in shown["memory"]
    assert 'ctx_embedding_cache_misses{service="memory"} 1.0' in shown["memory"]
    assert any(body.startswith(b"/v1/traces ") and b"find" in body for body in bodies)
    known = {SUFFIX.sub("", name) for text in shown.values() for name in METRIC.findall(text)}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            names = METRIC.findall(target["expr"])
            assert names
            assert {SUFFIX.sub("", name) for name in names} <= known, panel["title"]
