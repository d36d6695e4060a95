"""A client with a token that needs no session: one request a call, over plain HTTP."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from ctx_core.serving.mcp.client import PROTOCOL_VERSION


class Addresses(Protocol):
    """Where both servers answer."""

    @property
    def memory_http(self) -> str: ...
    @property
    def indexer_http(self) -> str: ...


@dataclass(frozen=True)
class ToolClient:
    """Calls tools without a session, as a client with a token."""

    server: Addresses
    token: str
    host: str = ""  # that a proxy is asked for; no certificate is checked

    async def send(self, service: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        name = params.get("name") or params.get("uri")
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL_VERSION,
            "Mcp-Method": method,
            **({"Mcp-Name": name} if name else {}),
            **({"Host": self.host} if self.host else {}),
        }
        meta = {
            "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
            "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        url = getattr(self.server, f"{service}_http")
        async with httpx.AsyncClient(timeout=60, verify=False) as client:
            response = await client.post(url, json=body, headers=headers)
        text = response.text
        if response.headers["content-type"].startswith("text/event-stream"):
            text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
        answer: dict[str, Any] = json.loads(text)
        return answer

    async def call(self, service: str, name: str, arguments: Mapping[str, Any]) -> tuple[bool, str]:
        """Whether a call failed, and all that it answered."""
        params = {"name": name, "arguments": dict(arguments)}
        answer = await self.send(service, "tools/call", params)
        result = answer.get("result", {})
        return bool("error" in answer or result.get("isError")), json.dumps(answer)

    async def done(self, service: str, name: str, /, **arguments: Any) -> str:
        failed, said = await self.call(service, name, arguments)
        assert not failed, (name, said)
        return said

    async def tools(self, service: str) -> set[str]:
        listed = await self.send(service, "tools/list", {})
        return {tool["name"] for tool in listed["result"]["tools"]}
