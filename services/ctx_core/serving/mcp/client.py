"""Call a tool of another ctx server over MCP, by one request of the stateless protocol.

The MCP library takes a second to import; a call needs nothing of it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from ctx_core.errors import RemoteFailed, StorageFailed
from ctx_core.serving.http_request import BadResponse, Response, send
from ctx_core.serving.progress import Report

CALL_TIMEOUT_SECONDS = 30.0  # the servers' own default for one operation
PROTOCOL_VERSION = "2026-07-28"  # the first without sessions
META = "io.modelcontextprotocol/"
CALL_ID = 1
EVENT_STREAM = "text/event-stream"
CLIENT = {"name": "ctx", "version": "1"}


async def call_tool(
    url: str,
    tool: str,
    arguments: dict[str, Any],
    token: str | None = None,
    *,
    seconds: float = CALL_TIMEOUT_SECONDS,
    on_progress: Report | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Call a tool and return its result.

    Raises RemoteFailed for an error of the tool, StorageFailed where no server answers.
    """
    try:
        async with asyncio.timeout(seconds):
            answer = await _answer(
                url, tool, arguments, on_progress, {**_headers(tool, token), **(headers or {})}
            )
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error) or f"no answer within {seconds:g} s"
        raise StorageFailed(
            f"No ctx server answers at {url} ({reason}). Start it with: ctx up", url=url
        ) from error
    result = answer.get("result", {})
    body: dict[str, Any] = result.get("structuredContent") or {}
    if "error" in answer or result.get("isError"):
        raise RemoteFailed(_failure(tool, answer) | body)
    return body


async def _answer(
    url: str,
    tool: str,
    arguments: dict[str, Any],
    on_progress: Report | None,
    headers: dict[str, str],
) -> dict[str, Any]:
    """Return the JSON-RPC message that answers a call; progress is reported meanwhile."""
    body = json.dumps(_request(tool, arguments)).encode()
    async with send("POST", url, headers, body) as response:
        if response.content_type != EVENT_STREAM:
            return _refused_or_answered(response, json.loads(await response.read()))
        async for message in _messages(response):
            if message.get("id") == CALL_ID:
                return message
            if message.get("method") == "notifications/progress" and on_progress is not None:
                done = message["params"]
                await on_progress(done["progress"], done.get("total"), done.get("message"))
    raise BadResponse("it ended without a result")


def _refused_or_answered(response: Response, message: Any) -> dict[str, Any]:
    """Return the message. Raises RemoteFailed for the body of a refusal before MCP."""
    if not isinstance(message, dict):
        raise BadResponse(f"status {response.status}")
    if "error_code" in message:
        raise RemoteFailed(message)
    if "jsonrpc" not in message:
        raise BadResponse(f"status {response.status}")
    return message


async def _messages(response: Response) -> AsyncIterator[dict[str, Any]]:
    """Yield the messages of a stream of server-sent events."""
    data: list[bytes] = []
    async for line in response.lines():
        if line.startswith(b"data:"):
            data.append(line.removeprefix(b"data:"))
        elif not line and data:
            yield json.loads(b"\n".join(data))
            data = []


def _request(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    meta = {
        f"{META}protocolVersion": PROTOCOL_VERSION,
        f"{META}clientInfo": CLIENT,
        f"{META}clientCapabilities": {},
        "progressToken": CALL_ID,
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": CALL_ID, "method": "tools/call", "params": params}


def _headers(tool: str, token: str | None) -> dict[str, str]:
    authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
    return authorization | {
        "Content-Type": "application/json",
        "Accept": f"application/json, {EVENT_STREAM}",
        "MCP-Protocol-Version": PROTOCOL_VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }


def _failure(tool: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an error that brings none of its own."""
    reason = answer.get("error", {}).get("message", f"{tool} failed")
    return {"error": reason, "error_code": "INTERNAL_ERROR"}
