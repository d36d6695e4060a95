"""Store memories at a memory server in another process."""

from collections.abc import Mapping
from typing import cast

from ctx_core.memories.metadata import Metadata
from ctx_core.memories.results import StoreResult
from ctx_core.serving.mcp.client import call_tool


class RemoteMemories:
    """A MemoryWriter that calls the memory server's `store`."""

    def __init__(
        self, url: str, token: str | None, headers: Mapping[str, str] | None = None
    ) -> None:
        self._url = url
        self._token = token
        self._headers = headers

    async def store(self, information: str, metadata: Metadata | None) -> StoreResult:
        arguments = {
            "information": information,
            "metadata": metadata.model_dump(mode="json", exclude_none=True) if metadata else None,
        }
        stored = await call_tool(self._url, "store", arguments, self._token, headers=self._headers)
        return cast(StoreResult, stored)
