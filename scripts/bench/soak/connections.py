"""Connections and calls that go wrong: each a kind of load, for any server."""

import asyncio
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from scripts.bench.soak.caller import ACCEPT, Caller, Kind

LEFT_SECONDS = 0.01  # before a client is gone


class Connections:
    """Sessions, errors and broken connections of one server; `tool` reads and takes a `query`."""

    def __init__(self, caller: Caller, tool: str, argument: str) -> None:
        self._caller = caller
        self._tool = tool
        self._argument = argument

    async def ended_session(self, number: int) -> None:
        session = await self._caller.open_session()
        await self._caller.call_in(session, self._tool, **{self._argument: f"retry {number % 50}"})
        await self._caller.end_session(session)

    async def left_session(self, number: int) -> None:
        """A session whose client goes without a word."""
        session = await self._caller.open_session()
        await self._caller.call_in(session, self._tool, **{self._argument: f"retry {number % 50}"})

    async def bad_arguments(self, number: int) -> None:
        await self._caller.call(self._tool, **{self._argument: "x", "limit": f"many {number}"})
        await self._caller.call(self._tool)

    async def unknown_tool(self, number: int) -> None:
        await self._caller.call(f"no_such_tool_{number}")

    async def unknown_session(self, number: int) -> None:
        await self._caller.call_in(f"{number:032x}", self._tool, **{self._argument: "x"})

    async def wrong_host(self, number: int) -> None:
        headers = {**ACCEPT, "Host": f"host{number}.example.org"}
        await self._caller.request("POST", self._caller.url, headers, b"{}")

    async def no_json(self, number: int) -> None:
        await self._caller.request("POST", self._caller.url, ACCEPT, b"{" * (number % 50 + 1))

    async def unknown_path(self, number: int) -> None:
        await self._caller.request("GET", f"{self._caller.url}/x/unknown-{number}")

    async def aborted(self, number: int) -> None:
        """A call whose client is gone before the answer: in the body, or after it."""
        given = {self._argument: f"retry {number % 50}"}
        params = {"name": self._tool, "arguments": given}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        head = {**ACCEPT, "Content-Length": str(len(body))}
        await self._leave("POST", self._caller.url, head, body[: None if number % 2 else 20])

    async def left_sse(self, number: int) -> None:
        """An SSE connection that is opened, read or not, and dropped."""
        head = {"Accept": "text/event-stream"}
        await self._leave("GET", self._caller.sse_url, head, b"", read=bool(number % 2))

    async def _leave(
        self, method: str, url: str, head: dict[str, str], body: bytes, *, read: bool = False
    ) -> None:
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        lines = [f"{method} {parts.path} HTTP/1.1", f"Host: {parts.netloc}"]
        lines += [f"{name}: {value}" for name, value in head.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        if read:
            await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(LEFT_SECONDS)
        writer.transport.abort()
        self._caller.note("left")


def connection_kinds(caller: Caller, tool: str, argument: str) -> Mapping[str, Kind]:
    """Return the kinds of load by name."""
    kinds = Connections(caller, tool, argument)
    return {
        "ended sessions": kinds.ended_session,
        "left sessions": kinds.left_session,
        "bad arguments": kinds.bad_arguments,
        "unknown tools": kinds.unknown_tool,
        "unknown sessions": kinds.unknown_session,
        "wrong Host": kinds.wrong_host,
        "no JSON": kinds.no_json,
        "unknown paths": kinds.unknown_path,
        "aborted calls": kinds.aborted,
        "left SSE": kinds.left_sse,
    }
