"""The tool that stores a memory: the same as the memory server's `store`."""

from collections.abc import Sequence

from ctx_core.memories.metadata import Information, MetadataArgument
from ctx_core.memories.results import MemoryWriter, StoreResult
from ctx_core.serving.service import Effect, OneCollection, Tool

TOOLSET = "memory"


def memory_tools(memories: MemoryWriter, collection: str) -> Sequence[Tool]:
    """Build `memory_store` over the memory server, which keeps memories in a collection."""

    async def memory_store(
        information: Information, metadata: MetadataArgument = None
    ) -> StoreResult:
        """Keep something worth remembering; the same as the memory server's `store`."""
        return await memories.store(information, metadata)

    reach = OneCollection(collection)
    return [Tool(memory_store, "Store a memory", TOOLSET, Effect.ADDS, reach=reach)]
