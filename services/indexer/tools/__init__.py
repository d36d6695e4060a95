"""The indexer server's tools, in the words of the contract."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from services.core.memories.types import (
    Information,
    MemoryWriter,
    MetadataArgument,
    StoreResult,
)
from services.core.serving.service import Effect, Tool
from services.core.serving.sessions import session_tool
from services.core.vectors.types import CollectionInfo
from services.indexer.search.searcher import Searcher
from services.indexer.search.snippet import DEFAULT_CUT, Cut
from services.indexer.tools.admin import admin_tools, index_tools
from services.indexer.tools.context import IndexerContext
from services.indexer.tools.search import search_tools


class CollectionRow(TypedDict):
    """One collection, as `qdrant_list` shows it."""

    name: str
    vectors_count: int
    segments_count: int
    points_count: int
    indexed_vectors_count: int
    status: str
    optimizer_status: str


class CollectionList(TypedDict):
    """What `qdrant_list` answers."""

    ok: bool
    collections: list[CollectionRow]


def indexer_tools(
    desk: IndexerContext,
    searcher: Searcher,
    memories: MemoryWriter,
    repo: str | None,
    cut: Cut = DEFAULT_CUT,
) -> Sequence[Tool]:
    """Every tool of the indexer server; `repo` is the one searched when none is named."""

    async def memory_store(
        information: Information, metadata: MetadataArgument = None
    ) -> StoreResult:
        """Keep something worth remembering; the same as the memory server's `store`."""
        return await memories.store(information, metadata)

    async def qdrant_list() -> CollectionList:
        """List all collections with their sizes and states."""
        found = await desk.vectors.list_collections()
        return {"ok": True, "collections": [_row(info) for info in found]}

    return [
        *search_tools(searcher, desk.sessions, desk.collection, repo, cut),
        *index_tools(desk),
        *admin_tools(desk),
        Tool(memory_store, "Store a memory", "memory", Effect.ADDS),
        Tool(qdrant_list, "List collections", "admin", Effect.READS),
        session_tool(desk.sessions),
    ]


def _row(info: CollectionInfo) -> CollectionRow:
    return {
        "name": info.name,
        "vectors_count": info.points_count,
        "segments_count": info.segments_count,
        "points_count": info.points_count,
        "indexed_vectors_count": info.indexed_vectors_count,
        "status": info.status,
        "optimizer_status": info.optimizer_status,
    }
