"""The memory server's tools, in the words of the contract."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict

from ctx_core.access.grant import Scope
from ctx_core.errors import InvalidInput
from ctx_core.memories.memory import MemoryFilters
from ctx_core.memories.metadata import (
    Information,
    Kind,
    Metadata,
    MetadataArgument,
    scaled_priority,
    tag_list,
)
from ctx_core.memories.results import (
    DeleteResult,
    ListedMemory,
    MemoryHit,
    StoreResult,
    UpdateResult,
)
from ctx_core.serving.service import Effect, Reach, Tool
from ctx_core.serving.sessions import (
    COLLECTION_PATTERN,
    KnownCollections,
    ProjectCheck,
    SessionDefaults,
    SessionToken,
    project_session_tool,
)
from ctx_memory.memories.memories import Memories
from ctx_memory.projection.heal import Healer
from ctx_memory.records.entry import MAX_OFFSET

MAX_QUERY_LENGTH = 1000
MAX_LIMIT = 100
TOOLSET, ADMIN = "memory", "admin"
MADE_BY = "store with a collection makes another"
# 100,000 entries take minutes. A client that gives up earlier ends the rebuild, and the old
# collections stay.
REBUILD_SECONDS = 6 * 3600.0


MemoryId = Annotated[str, Field(description="Id of the memory, as `store` and `find` give it.")]
CollectionFilter = Annotated[
    str | None, Field(description="Where it was stored.", pattern=COLLECTION_PATTERN)
]
KindFilter = Annotated[Kind | None, Field(description="Only entries of this kind.")]
LanguageFilter = Annotated[
    str | None, Field(description="Only entries about this programming language.")
]
TopicFilter = Annotated[str | None, Field(description="Only entries on this topic.")]
TagsFilter = Annotated[
    str | list[str] | None,
    Field(description="Only entries with one of these tags; a list or comma-separated."),
]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Maximum number of results.")]
PriorityFilter = Annotated[
    Annotated[int, Field(ge=1, le=10)] | None,
    BeforeValidator(scaled_priority),
    Field(description="Only entries at least this important."),
]


class FindResult(TypedDict):
    """The result of `find`; `total` counts the memories that pass the filters.

    `weak` is there where nothing fits well: probably nothing is known about it.
    """

    ok: bool
    results: list[MemoryHit]
    total: int
    query: str
    weak: NotRequired[bool]
    degraded: NotRequired[list[str]]


class RebuildResult(TypedDict):
    """The result of `rebuild_memories`: the model, and how many entries of each kind."""

    ok: bool
    model: str
    written: dict[str, int]


class ListResult(TypedDict):
    """The result of `list_memories`; `total` counts the memories that pass the filters."""

    ok: bool
    results: list[ListedMemory]
    total: int
    limit: int
    offset: int
    has_more: bool


def memory_tools(
    memories: Memories,
    healer: Healer,
    sessions: SessionDefaults,
    check_project: ProjectCheck,
) -> Sequence[Tool]:
    """Return the tools of the `memory` toolset, and `rebuild_memories` for every kind of entry."""

    async def store(
        information: Information,
        metadata: MetadataArgument = None,
        session: SessionToken = None,
        collection: Annotated[
            str | None,
            Field(description="Where to keep it; made if missing.", pattern=COLLECTION_PATTERN),
        ] = None,
    ) -> StoreResult:
        """Keep something worth remembering: a pattern, an explanation, a snippet, a decision.

        It is safe on disk when this returns, and `find` sees it at once.
        """
        return await memories.store(information, metadata, session, collection)

    async def find(
        query: Annotated[
            str,
            Field(min_length=1, max_length=MAX_QUERY_LENGTH, description="Words or a question."),
        ],
        kind: KindFilter = None,
        language: LanguageFilter = None,
        topic: TopicFilter = None,
        tags: TagsFilter = None,
        limit: Limit = 10,
        priority_min: PriorityFilter = None,
        session: SessionToken = None,
        collection: CollectionFilter = None,
    ) -> FindResult:
        """Search what was stored, by meaning and by words together; the best come first.

        A score is how surely it fits, from 0 to 1; `weak` says that nothing does. Matching words
        are marked <<so>> in the highlights.
        """
        filters = MemoryFilters(kind, language, topic, tag_list(tags) or (), priority_min)
        recalled = await memories.find(query, filters, limit, session, collection)
        result: FindResult = {
            "ok": True,
            "results": list(recalled.hits),
            "total": recalled.total,
            "query": query,
        }
        if recalled.is_weak:
            result["weak"] = True
        if recalled.degraded:
            result["degraded"] = list(recalled.degraded)
        return result

    async def update_memory(
        memory_id: MemoryId,
        information: Annotated[str | None, Field(description="The new text.")] = None,
        metadata: Annotated[
            Metadata | None, Field(description="New metadata, replacing all of the old.")
        ] = None,
        metadata_patch: Annotated[
            dict[str, Any] | None,
            Field(description="Metadata to merge in: objects merge, null removes a key."),
        ] = None,
    ) -> UpdateResult:
        """Correct a memory: its text, its metadata or both. What is not given stays.

        `metadata` and `metadata_patch` exclude each other. The time it was stored stays.
        """
        return await memories.update(memory_id, information, metadata, metadata_patch)

    async def delete_memory(
        memory_ids: Annotated[
            str | list[str],
            Field(description="Id of a memory, or several: all are deleted or none."),
        ],
    ) -> DeleteResult:
        """Delete memories for good, such as those that turned out to be wrong."""
        ids = [memory_ids] if isinstance(memory_ids, str) else memory_ids
        if not 1 <= len(ids) <= MAX_LIMIT:
            raise InvalidInput("memory_ids", f"name 1 to {MAX_LIMIT} memories")
        return await memories.delete(ids)

    async def list_memories(
        kind: KindFilter = None,
        language: LanguageFilter = None,
        topic: TopicFilter = None,
        tags: TagsFilter = None,
        priority_min: PriorityFilter = None,
        limit: Limit = 20,
        offset: Annotated[
            int, Field(ge=0, le=MAX_OFFSET, description="How many to skip, for paging.")
        ] = 0,
        include_forgotten: Annotated[
            bool, Field(description="Also those that expired or were superseded.")
        ] = False,
        session: SessionToken = None,
        collection: CollectionFilter = None,
    ) -> ListResult:
        """List what is stored, newest first, without a query. The filters are those of `find`."""
        filters = MemoryFilters(kind, language, topic, tag_list(tags) or (), priority_min)
        results, total = await memories.browse(
            filters, limit, offset, session, collection, forgotten=include_forgotten
        )
        return {
            "ok": True,
            "results": results,
            "total": total,
            "limit": limit,
            "offset": offset,
            "has_more": offset + len(results) < total,
        }

    async def rebuild_memories() -> RebuildResult:
        """Write the vectors of all memories and threads again, with the configured model.

        Needed once after the embedding model was changed. Searches and stores go on meanwhile.
        """
        report = await healer.rebuild()
        written = {kind.value: count for kind, count in report.entry_counts.items()}
        return {"ok": True, "model": report.model, "written": written}

    return [
        Tool(store, "Store a memory", TOOLSET, Effect.ADDS, lean=True),
        Tool(find, "Find memories", TOOLSET, Effect.READS, lean=True, adapt=_adapt_find),
        Tool(update_memory, "Update a memory", TOOLSET, Effect.SETS),
        Tool(delete_memory, "Delete memories", TOOLSET, Effect.DESTROYS),
        Tool(list_memories, "List memories", TOOLSET, Effect.READS),
        Tool(
            rebuild_memories,
            "Rebuild the vectors",
            ADMIN,
            Effect.SETS,
            REBUILD_SECONDS,
            scope=Scope.ADMIN,
            reach=Reach.EVERYTHING,
        ),
        project_session_tool(
            sessions, KnownCollections(memories.collections, MADE_BY), check_project
        ),
    ]


def _adapt_find(arguments: dict[str, Any]) -> dict[str, Any]:
    """Replace the name that clients of other systems use for `limit`."""
    given = dict(arguments)
    if (limit := given.pop("top_k", None)) is not None:
        given.setdefault("limit", limit)
    return given
