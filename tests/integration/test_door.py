"""Every port of a running server against hostile HTTP clients, over real sockets."""

import json
import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from ctx_core.serving.http.connection import MAX_HEADER_BYTES
from tests.integration.test_guard import ACCEPT, INITIALIZE, bearer, post
from tests.support.processes import Server, environment, running

DOORS = ("memory_http", "memory_sse", "indexer_http", "indexer_sse", "memory_health", "rest")
IDLE_SECONDS = 2.0


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without tokens, with a rate limit and sessions that end soon."""
    env = environment(
        tmp_path_factory.mktemp("limited") / "data",
        CTX_RATE_LIMIT_PER_MINUTE="60",
        CTX_SESSION_IDLE_SECONDS=str(IDLE_SECONDS),
    )
    with running(env) as started:
        yield started


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    env = environment(
        tmp_path_factory.mktemp("tokens") / "data",
        CTX_AUTH_TOKENS="token-one,token-two",
        CTX_RATE_LIMIT_PER_MINUTE="60",
    )
    with running(env) as started:
        yield started


def exchange(url: str, *headers: str) -> int:
    """Send a request with exactly these headers; return the status."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    lines = ["GET /readyz HTTP/1.1", *headers, "Connection: close", "", ""]
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=20) as opened:
        opened.sendall("\r\n".join(lines).encode("latin-1"))
        return int(opened.recv(4096).split()[1])


def port(url: str) -> int:
    found = urlsplit(url).port
    assert found is not None
    return found


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:{}@evil",
        "127.0.0.1:{}.evil",
        "127.0.0.1.evil:{}",
        "evil@127.0.0.1:{}",
        "localhost:{}:evil",
        "[::1]evil",
        "[::1",
        "127.0.0.1:{}/evil",
        "127.0.0.1:99999999",
        "0177.0.0.1",
        "",
    ],
)
def test_a_host_that_only_begins_like_ours_is_refused(server: Server, door: str, host: str) -> None:
    url = getattr(server, door)
    assert exchange(url, f"Host: {host.format(port(url))}") in (400, 421)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:{}.evil",
        "http://127.0.0.1:{}@evil",
        "http://evil@127.0.0.1:{}",
        "http://127.0.0.1.evil",
        "http://localhost:{}/evil",
        "http://localhost#evil",
        "evil://evil/http://localhost",
        "null",
        "localhost",
    ],
)
def test_an_origin_that_only_looks_like_ours_is_refused(
    server: Server, door: str, origin: str
) -> None:
    url = getattr(server, door)
    sent = origin.format(port(url))
    assert exchange(url, f"Host: 127.0.0.1:{port(url)}", f"Origin: {sent}") == 403


@pytest.mark.parametrize("door", DOORS)
def test_a_second_host_or_origin_is_looked_at_too(server: Server, door: str) -> None:
    url = getattr(server, door)
    own = f"Host: 127.0.0.1:{port(url)}"
    assert exchange(url, own, "Host: evil") in (400, 421)
    assert exchange(url, own, f"Origin: http://127.0.0.1:{port(url)}", "Origin: http://evil") == 403


@pytest.mark.parametrize("door", DOORS)
def test_large_headers_are_refused_on_every_port(server: Server, door: str) -> None:
    url = getattr(server, door)
    assert exchange(url, "Host: localhost", "X: " + "y" * MAX_HEADER_BYTES) == 431


def call(url: str, headers: dict[str, str]) -> dict[str, Any]:
    """Call a tool by the stateless protocol: one request, nothing remembered."""
    opened = httpx.post(url, json=INITIALIZE, headers=ACCEPT | headers)
    session = {"mcp-session-id": opened.headers["mcp-session-id"]} | headers
    body = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "set_session_defaults", "arguments": {}},
    }
    answer = httpx.post(url, json=body, headers=ACCEPT | session)
    line = next(row for row in answer.text.splitlines() if row.startswith("data:"))
    result: dict[str, Any] = json.loads(line.removeprefix("data:"))["result"]["structuredContent"]
    return result


@pytest.mark.parametrize(
    "value",
    ["[" * 1_000 + "]" * 1_000, "9" * 4_200, r'"\ud800"', r'"\u0000"', "1e999", "NaN", "{"],
)
@pytest.mark.parametrize("door", ["memory_http", "indexer_http"])
def test_json_that_cannot_be_read_is_the_clients_error(
    server: Server, door: str, value: str
) -> None:
    url = getattr(server, door)
    session = post(url).headers["mcp-session-id"]
    body = (
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": '
        f'{{"name": "set_session_defaults", "arguments": {{"collection": {value}}}}}}}'
    )
    headers = ACCEPT | {"mcp-session-id": session, "Content-Type": "application/json"}
    answer = httpx.post(url, content=body.encode(), headers=headers, timeout=20)
    assert answer.status_code in (200, 400)
    assert "INTERNAL" not in answer.text
    assert "nternal" not in answer.text


def refused(answers: list[dict[str, Any]]) -> bool:
    return any(answer.get("error_code") == "RATE_LIMIT_ERROR" for answer in answers)


def test_a_header_does_not_buy_another_rate_limit(limited: Server) -> None:
    spellings = [
        {"Authorization": f"Bearer {n}", "X-Forwarded-For": f"9.9.9.{n}"} for n in range(9)
    ]
    spellings += [{"Forwarded": f"for=9.9.9.{n}", "X-Real-IP": f"9.9.9.{n}"} for n in range(9)]
    assert refused([call(limited.memory_http, headers) for headers in spellings])


def test_a_changed_spelling_of_the_token_does_not_buy_another_rate_limit(tokens: Server) -> None:
    spellings = [
        f"{scheme}{' ' * n}token-one" for n in range(1, 8) for scheme in ("Bearer", "bEARER")
    ]
    answers = [call(tokens.memory_http, {"Authorization": each}) for each in spellings]
    assert refused(answers)
    assert not refused([call(tokens.memory_http, bearer("token-two"))])


def test_a_session_answers_only_the_client_that_opened_it(tokens: Server) -> None:
    opened = post(tokens.memory_http, bearer("token-one"))
    session = {"mcp-session-id": opened.headers["mcp-session-id"]}
    ping = {"jsonrpc": "2.0", "id": 3, "method": "ping"}
    assert post(tokens.memory_http, session | bearer("token-two"), ping).status_code == 404
    assert post(tokens.memory_http, session | bearer("token-one"), ping).status_code == 200


async def test_a_session_token_answers_only_the_client_that_made_it(tokens: Server) -> None:
    def client(token: str) -> "Client[StreamableHttpTransport]":
        return Client(StreamableHttpTransport(tokens.indexer_http, headers=bearer(token)))

    async with client("token-one") as one:
        made = await one.call_tool("set_session_defaults", {})
        assert made.structured_content is not None
        session = made.structured_content["session"]
    async with client("token-two") as two:
        answer = await two.call_tool(
            "set_session_defaults", {"session": session}, raise_on_error=False
        )
        assert answer.structured_content is not None
        assert answer.structured_content["error_code"] == "VALIDATION_ERROR"


def test_an_abandoned_session_ends(limited: Server) -> None:
    ping = {"jsonrpc": "2.0", "id": 3, "method": "ping"}
    session = {"mcp-session-id": post(limited.indexer_http).headers["mcp-session-id"]}
    assert post(limited.indexer_http, session, ping).status_code == 200
    deadline = time.monotonic() + 10 * IDLE_SECONDS
    while (
        post(limited.indexer_http, {"mcp-session-id": "other"} | session, ping).status_code != 404
    ):
        assert time.monotonic() < deadline
        time.sleep(IDLE_SECONDS * 1.5)
