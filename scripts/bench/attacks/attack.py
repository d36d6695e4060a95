"""What an attack is: a name, and how to try it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastmcp import Client

from scripts.bench.servers import Server

CALL_SECONDS = 120.0  # a call that takes longer counts as frozen; git has 60 of them


@dataclass
class Outcome:
    """How often an attack was tried, how often ctx held, and what it did where it did not."""

    tried: int = 0
    held: int = 0
    broken: list[str] = field(default_factory=list)

    def note(self, what: str, held: bool) -> None:
        """Count one try."""
        self.tried += 1
        self.held += held
        if not held:
            self.broken.append(what)


@dataclass(frozen=True)
class Target:
    """A running server, its workspace, which it may read, and a folder that it may not."""

    server: Server
    workspace: Path
    outside: Path

    async def call(self, url: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; return its body, also of an error. Raises where there is no answer."""
        async with Client(url, timeout=CALL_SECONDS) as client:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
        body = result.structured_content
        return body if body is not None else {"text": str(result.content)}

    async def index(self, subdir: str) -> dict[str, Any]:
        return await self.call(self.server.indexer_http, "qdrant_index", {"subdir": subdir})

    async def search(self, query: str) -> str:
        """Return all that a search and an exact search show."""
        found = [
            await self.call(self.server.indexer_http, "repo_search", {"query": query, "limit": 20}),
            await self.call(self.server.indexer_http, "exact_search", {"pattern": query}),
        ]
        return str(found)


@dataclass(frozen=True)
class ServerAttack:
    """An attack on a running server."""

    name: str
    run: Callable[[Target, Outcome], Awaitable[None]]


@dataclass(frozen=True)
class FolderAttack:
    """An attack on stored data, in an empty folder, with servers that it starts itself."""

    name: str
    run: Callable[[Path, Outcome], Awaitable[None]]
