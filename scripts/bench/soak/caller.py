"""A caller of one server: by new connections and kept ones, with sessions and without."""

import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx

from ctx_core.errors import RemoteFailed, StorageFailed
from ctx_core.serving.http_request import send
from ctx_core.serving.mcp.client import (
    CLIENT,
    EVENT_STREAM,
    PROTOCOL_VERSION,
    call_tool,
)
from ctx_core.serving.mcp.client import META as META_PREFIX

Kind = Callable[[int], Awaitable[None]]  # one round of a load; leaves as many entries as it met
SECONDS = 60.0
HANDSHAKE_VERSION = "2025-06-18"  # of the protocol that has sessions
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
SESSION = "mcp-session-id"
META = {
    f"{META_PREFIX}protocolVersion": PROTOCOL_VERSION,
    f"{META_PREFIX}clientInfo": CLIENT,
    f"{META_PREFIX}clientCapabilities": {},
}
WAYS = 3  # a new connection, a kept one, a kept session


class Caller:
    """Calls the tools of a server, and counts the answers."""

    def __init__(self, url: str, sse_url: str, rest_url: str, http: httpx.AsyncClient) -> None:
        self.url, self.sse_url, self.rest_url = url, sse_url, rest_url
        self.http = http
        self.calls = 0
        self.outcomes: Counter[str] = Counter()
        self._session: str | None = None

    async def call(self, tool: str, **given: Any) -> dict[str, Any]:
        """Call a tool, each time another way; an error of the tool is counted, and its body {}."""
        way = self.calls % WAYS
        if way == 0:
            return await self._by_new_connection(tool, given)
        if way == 1:
            return self._body(await self._post(_call(tool, given, META), _headers(tool)))
        if self._session is None:
            self._session = await self.open_session()
        return self._body(await self._post(_call(tool, given), {SESSION: self._session}))

    async def _by_new_connection(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        try:
            body = await call_tool(self.url, tool, given, seconds=SECONDS)
        except RemoteFailed as error:
            self.note(error.code)
            return {}
        except StorageFailed:
            self.note("no answer")
            return {}
        self.note("ok")
        return body

    async def open_session(self) -> str:
        """Open a session by the handshake; return its id."""
        params = {
            "protocolVersion": HANDSHAKE_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "soak", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        answer = await self._post(message, {})
        session = answer.headers[SESSION]
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self._post(done, {SESSION: session})
        return session

    async def call_in(self, session: str, tool: str, **given: Any) -> dict[str, Any]:
        """Call a tool in a session."""
        return self._body(await self._post(_call(tool, given), {SESSION: session}))

    async def end_session(self, session: str) -> None:
        """End a session, as a client does that leaves."""
        await self.http.delete(self.url, headers={**ACCEPT, SESSION: session})

    async def _post(self, message: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        return await self.http.post(self.url, json=message, headers={**ACCEPT, **headers})

    def _body(self, answer: httpx.Response) -> dict[str, Any]:
        """Return the structured content of an answer; {} for an error, which is counted."""
        text = answer.text
        if answer.headers.get("content-type", "").startswith(EVENT_STREAM):
            data = [line for line in text.splitlines() if line.startswith("data:")]
            text = data[-1].removeprefix("data:")
        message = json.loads(text) if text else {}
        result = message.get("result", {})
        body: dict[str, Any] = result.get("structuredContent") or {}
        failed = "error" in message or result.get("isError", False) or answer.is_error
        self.note(body.get("error_code", f"status {answer.status_code}") if failed else "ok")
        return {} if failed else body

    async def request(
        self, method: str, url: str, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> int:
        """Send a request by a connection of its own; return the status."""
        async with send(method, url, headers, body) as answer:
            await answer.read()
            self.note(f"status {answer.status}")
            return answer.status

    def note(self, outcome: str) -> None:
        self.calls += 1
        self.outcomes[outcome] += 1


@contextlib.asynccontextmanager
async def calling(url: str, sse_url: str, rest_url: str) -> AsyncIterator[Caller]:
    """Yield a caller until the block ends."""
    async with httpx.AsyncClient(timeout=SECONDS) as http:
        yield Caller(url, sse_url, rest_url, http)


def _call(tool: str, given: dict[str, Any], meta: dict[str, Any] | None = None) -> dict[str, Any]:
    params = {"name": tool, "arguments": given, **({"_meta": meta} if meta else {})}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


def _headers(tool: str) -> dict[str, str]:
    """Return what the protocol without sessions asks for."""
    return {
        "MCP-Protocol-Version": PROTOCOL_VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
