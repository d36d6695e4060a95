"""Our MCP client: what it makes of every kind of answer."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ctx_core.errors import RemoteFailed, StorageFailed
from ctx_core.serving.mcp.client import call_tool


@contextlib.asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that sends these bytes to every request, and the requests."""
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        requests.append(head + await reader.readexactly(length))
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", requests


def response(body: bytes, content_type: str, status: str = "200 OK", length: bool = True) -> bytes:
    sized = f"content-length: {len(body)}\r\n" if length else ""
    return f"HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\n{sized}\r\n".encode() + body


def chunked(*parts: bytes) -> bytes:
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    return head + b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"


def rpc(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


RESULT = rpc(id=1, result={"structuredContent": {"ok": True, "text": "ü" * 100_000}})
PROGRESS = rpc(method="notifications/progress", params={"progress": 1, "total": 2})


async def test_a_result_comes_as_json_or_after_progress_in_a_stream() -> None:
    reports: list[tuple[float, float | None, str | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        reports.append((done, total, message))

    event = b": ping\r\n\r\ndata: %s\r\n\r\nevent: message\ndata: %s\n\n" % (PROGRESS, RESULT)
    halves = event[:300], event[300:]  # in the middle of a line
    for answer in (
        response(RESULT, "application/json; charset=utf-8"),
        response(RESULT, "application/json", length=False),
        chunked(*halves),
    ):
        async with answering(answer) as (url, requests):
            body = await call_tool(url, "find", {"query": "ä"}, "secret", on_progress=on_progress)
        assert (body["ok"], len(body["text"])) == (True, 100_000)
        head, _, sent = requests[0].partition(b"\r\n\r\n")
        assert b"Authorization: Bearer secret" in head
        assert json.loads(sent)["params"]["arguments"] == {"query": "ä"}
    assert reports == [(1, 2, None)]


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (
            response(
                rpc(
                    id=1,
                    result={
                        "isError": True,
                        "structuredContent": {"error": "too small", "error_code": "BAD"},
                    },
                ),
                "application/json",
            ),
            "BAD",
            "too small",
        ),
        (
            response(b'{"error": "a token", "error_code": "NOT_PERMITTED"}', "application/json"),
            "NOT_PERMITTED",
            "a token",
        ),
        (
            response(rpc(id=1, error={"code": -32601, "message": "no method"}), "application/json"),
            "INTERNAL_ERROR",
            "no method",
        ),
    ],
)
async def test_an_error_keeps_its_code(answer: bytes, code: str, said: str) -> None:
    async with answering(answer) as (url, _):
        with pytest.raises(RemoteFailed, match=said) as raised:
            await call_tool(url, "find", {})
    assert raised.value.code == code


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        response(b"<html>", "text/html", "404 Not Found"),
        response(b'{"detail": "x"}', "application/json", "404 Not Found"),
        response(b"[]", "application/json"),
        response(RESULT, "application/json")[:-10],
        chunked(b"data: %s\n\n" % PROGRESS),
        chunked(b"data: {}\n\n")[:-7],
    ],
)
async def test_what_is_no_server_of_ours_is_said_to_be_none(answer: bytes) -> None:
    async with answering(answer) as (url, _):
        with pytest.raises(StorageFailed, match="No ctx server answers"):
            await call_tool(url, "find", {}, seconds=5)


async def test_an_answer_that_never_comes_ends_at_the_deadline() -> None:
    async with answering(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n") as (url, _):
        with pytest.raises(StorageFailed):
            await call_tool(url, "find", {}, seconds=5)
    with pytest.raises(StorageFailed, match="ctx up"):
        await call_tool(url, "find", {})
