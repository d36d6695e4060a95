"""How the contract tests call tools."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from fastmcp import Client

Body = Mapping[str, Any]


class Tools:
    """Calls a server's tools as a client does."""

    def __init__(self, client: "Client[Any]") -> None:
        self.client = client

    async def call(self, name: str, **arguments: Any) -> Any:
        """What the tool answers."""
        answer = await self.client.call_tool_mcp(name, arguments)
        body = answer.structured_content
        assert not answer.is_error, body
        assert body is not None
        result: Body = body["result"] if set(body) == {"result"} else body
        return result

    async def refused(self, name: str, **arguments: Any) -> Body:
        """The error body that the tool answers."""
        answer = await self.client.call_tool_mcp(name, arguments)
        body: Body | None = answer.structured_content
        assert answer.is_error, body
        assert body is not None
        assert set(body) == {"ok", "error", "error_code", "details"}
        assert body["ok"] is False
        return body


class Thread:
    """One thread of a server."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.id = f"thread-{uuid4().hex[:12]}"

    async def store(self, text: str, source: str = "user", **more: Any) -> int:
        body = await self.tools.call(
            "store_context", thread_id=self.id, source=source, text=text, **more
        )
        return int(body["context_id"])

    async def search(self, name: str = "search_context", **arguments: Any) -> Any:
        return await self.tools.call(name, thread_id=self.id, **arguments)

    async def texts(self, name: str = "search_context", **arguments: Any) -> Sequence[str]:
        body = await self.search(name, **arguments)
        return [hit["text_content"] for hit in body["results"]]

    async def read(self, context_id: int) -> Any:
        [entry] = await self.tools.call("get_context_by_ids", context_ids=[context_id])
        return entry
