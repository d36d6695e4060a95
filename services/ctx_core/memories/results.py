"""The results of the memory tools, and the writer that both servers can be given."""

from typing import Any, NotRequired, Protocol

from typing_extensions import TypedDict

from ctx_core.memories.metadata import Metadata


class StoreResult(TypedDict):
    """The result of `store`."""

    ok: bool
    id: str
    message: str
    warnings: NotRequired[list[str]]
    degraded: NotRequired[list[str]]


class UpdateResult(TypedDict):
    """The result of `update_memory`: the names of the fields that changed."""

    ok: bool
    id: str
    updated: list[str]
    warnings: NotRequired[list[str]]
    degraded: NotRequired[list[str]]


class DeleteResult(TypedDict):
    """The result of `delete_memory`."""

    ok: bool
    deleted: int
    degraded: NotRequired[list[str]]


class ListedMemory(TypedDict):
    """One memory in the result of `list_memories`."""

    id: str
    information: str
    metadata: dict[str, Any]
    updated_at: str


class MemoryHit(TypedDict):
    """One memory in the result of `find`."""

    id: str
    information: str
    metadata: dict[str, Any]
    score: float
    highlights: list[str]


class MemoryWriter(Protocol):
    """Stores a memory: in this process, or at the memory server over MCP."""

    async def store(self, information: str, metadata: Metadata | None) -> StoreResult: ...
