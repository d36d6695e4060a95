"""The memory server's tools, in the words of the contract."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from services.core.memories.model import (
    Information,
    Kind,
    MemoryHit,
    MetadataArgument,
    StoreResult,
    Wanted,
    tag_list,
)
from services.core.serving.sessions import SessionDefaults, SessionToken, session_tool
from services.core.serving.tool import Effect, Tool
from services.memory.entries import Memories

MAX_QUERY_LENGTH = 1000
MAX_LIMIT = 100
TOOLSET = "memory"


class FindResult(TypedDict):
    """What `find` answers. `total` counts the memories that the filters admit."""

    ok: bool
    results: list[MemoryHit]
    total: int
    query: str


def memory_tools(memories: Memories, sessions: SessionDefaults) -> Sequence[Tool]:
    """Every tool of the memory server."""

    async def store(
        information: Information,
        metadata: MetadataArgument = None,
        session: SessionToken = None,
    ) -> StoreResult:
        """Keep something worth remembering: a pattern, an explanation, a snippet, a decision.

        It is safe on disk when this returns, and `find` sees it at once.
        """
        return await memories.store(information, metadata, session)

    async def find(
        query: Annotated[
            str,
            Field(min_length=1, max_length=MAX_QUERY_LENGTH, description="Words or a question."),
        ],
        kind: Annotated[Kind | None, Field(description="Only entries of this kind.")] = None,
        language: Annotated[
            str | None, Field(description="Only entries about this programming language.")
        ] = None,
        topic: Annotated[str | None, Field(description="Only entries on this topic.")] = None,
        tags: Annotated[
            str | list[str] | None,
            Field(description="Only entries with one of these tags; a list or comma-separated."),
        ] = None,
        limit: Annotated[
            int, Field(ge=1, le=MAX_LIMIT, description="Most results to return.")
        ] = 10,
        priority_min: Annotated[
            int | None, Field(ge=1, le=10, description="Only entries at least this important.")
        ] = None,
        session: SessionToken = None,
    ) -> FindResult:
        """Search what was stored, by meaning and by words together; the best come first.

        A score of 1.0 is first by both. Matching words are marked <<so>> in the highlights.
        """
        wanted = Wanted(kind, language, topic, tag_list(tags) or (), priority_min)
        results, total = await memories.find(query, wanted, limit, session)
        return {"ok": True, "results": results, "total": total, "query": query}

    return [
        Tool(store, "Store a memory", TOOLSET, Effect.ADDS),
        Tool(find, "Find memories", TOOLSET, Effect.READS),
        session_tool(sessions),
    ]
