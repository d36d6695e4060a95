"""The MCP tools of the conversations dialect."""

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from ctx_core.errors import CtxError, RequestInvalid
from ctx_core.serving.service import Effect, TextResult, Tool
from ctx_memory.conversations.actions import similar_contexts
from ctx_memory.conversations.calls import CallStatistics
from ctx_memory.conversations.diagram import Format, draw
from ctx_memory.conversations.requests import (
    ACTIONS,
    DEFAULT_SIMILAR,
    DEFAULT_WEIGHT,
    MAX_SIMILAR,
    Content,
    ContextId,
    Cursor,
    DirectionName,
    Importance,
    PageLimit,
    RelationName,
    Role,
    SearchText,
    Tags,
)
from ctx_memory.conversations.responses import Body, RetrievedContext
from ctx_memory.records.conversations.relations import Direction, RelationType

if TYPE_CHECKING:
    from ctx_memory.conversations.conversations import Conversations

TOOLSET = "conversations"
MAX_DEPTH = 5

Limit = Annotated[int, Field(description="Most contexts.", ge=1, le=MAX_SIMILAR)]
Weight = Annotated[float, Field(description="Weight of the relationship.", ge=0, le=1)]
Depth = Annotated[int, Field(description="Relationships to follow.", ge=1, le=MAX_DEPTH)]
Older = Annotated[Cursor, Field(description="nextCursor of the page before.")]
Milliseconds = Annotated[
    int | None, Field(description="Milliseconds since 1970.", ge=0, le=253_402_300_799_000)
]
Action = Annotated[
    str, Field(description="Action to perform.", json_schema_extra={"enum": list(ACTIONS)})
]


def conversation_tools(conversations: "Conversations", summary_seconds: float) -> list[Tool]:
    """Return the tools; `summary_seconds` is how long one that may summarise may take."""
    return [
        *_message_tools(conversations, summary_seconds),
        *_relation_tools(conversations),
        _context_memory(conversations, summary_seconds),
        *_overview_tools(conversations),
    ]


def _message_tools(conversations: "Conversations", summary_seconds: float) -> list[Tool]:
    async def ping() -> str:
        """Test whether the server answers."""
        return "pong"

    async def add_message(
        contextId: ContextId,
        message: Content,
        role: Annotated[Role, Field(description="Who wrote the message.")],
        importance: Annotated[
            Importance, Field(description="How important the message is.")
        ] = "medium",
        tags: Tags = [],  # noqa: B006 - the schema's default; never changed
    ) -> TextResult:
        """Add a message to a conversation context, which is created where it does not exist."""
        warnings = await conversations.messages.add(contextId, role, message, importance, tags)
        done = f"Message added to context: {contextId}"
        more = {"warnings": list(warnings)} if warnings else {}
        return TextResult([done, *warnings], {"message": done, **more})

    async def retrieve_context(
        contextId: ContextId,
        limit: Annotated[
            PageLimit, Field(description="Messages of a page; 100 unless given.")
        ] = None,
        cursor: Annotated[Cursor, Field(description="nextCursor of the page before.")] = None,
    ) -> RetrievedContext:
        """Read a context: its newest messages, oldest first, and its summary.

        A long context comes in pages: pass nextCursor as cursor for older messages.
        """
        return await conversations.messages.retrieve(contextId, limit, cursor)

    async def summarize_context(contextId: ContextId) -> str:
        """Write or update the summary of a context, and return its text."""
        summary = await conversations.messages.summarize(contextId)
        if summary is None:
            raise RequestInvalid("Summary generation failed or context not found.")
        return summary["summary"]

    return [
        Tool(ping, "Ping", TOOLSET, Effect.READS),
        Tool(add_message, "Add a message", TOOLSET, Effect.ADDS),
        Tool(retrieve_context, "Retrieve a context", TOOLSET, Effect.READS),
        Tool(summarize_context, "Summarise a context", TOOLSET, Effect.SETS, summary_seconds),
    ]


def _relation_tools(conversations: "Conversations") -> list[Tool]:
    async def get_similar_contexts(query: SearchText, limit: Limit = DEFAULT_SIMILAR) -> TextResult:
        """Find contexts whose messages or summary are similar in meaning to a text."""
        found = await conversations.similarity.find(query, limit)
        contexts = similar_contexts(found)
        data: Body = {"similarContexts": contexts, "comparedBy": found.by}
        texts = [json.dumps(contexts, ensure_ascii=False)]
        if found.degraded:
            data["degraded"] = list(found.degraded)
            texts.append(f"Degraded, compared by {found.by}: {'; '.join(found.degraded)}")
        return TextResult(texts, data)

    async def add_relationship(
        sourceContextId: ContextId,
        targetContextId: ContextId,
        relationshipType: Annotated[RelationName, Field(description="Type of the relationship.")],
        weight: Weight = DEFAULT_WEIGHT,
    ) -> str:
        """Relate two contexts; the same relationship again changes its weight.

        With type parent the source is the parent of the target.
        """
        type_ = RelationType(relationshipType)
        await conversations.relations.add(sourceContextId, targetContextId, type_, weight)
        return f"Relationship added: {sourceContextId} -> {targetContextId} ({relationshipType})"

    async def get_related_contexts(
        contextId: ContextId,
        relationshipType: Annotated[
            RelationName | None, Field(description="Type of the relationship.")
        ] = None,
        direction: Annotated[
            DirectionName, Field(description="Which relationships count.")
        ] = "both",
    ) -> TextResult:
        """List the contexts that are related to one, the strongest relationship first."""
        type_ = None if relationshipType is None else RelationType(relationshipType)
        found = await conversations.relations.find_related(contextId, type_, Direction(direction))
        return TextResult([json.dumps(found, ensure_ascii=False)], {"relatedContexts": found})

    return [
        Tool(get_similar_contexts, "Find similar contexts", TOOLSET, Effect.READS),
        Tool(add_relationship, "Relate contexts", TOOLSET, Effect.SETS),
        Tool(get_related_contexts, "List related contexts", TOOLSET, Effect.READS),
    ]


def _context_memory(conversations: "Conversations", summary_seconds: float) -> Tool:
    async def context_memory(
        action: Action,
        contextId: Annotated[
            ContextId | None, Field(description="Identifier of a context.")
        ] = None,
        role: Annotated[Role | None, Field(description="Who wrote the message.")] = None,
        content: Annotated[Content | None, Field(description="Message content.")] = None,
        importance: Annotated[
            Importance | None, Field(description="How important the message is.")
        ] = None,
        tags: Annotated[Tags | None, Field(description="Tags of the message.")] = None,
        metaId: Annotated[
            ContextId | None, Field(description="Identifier of a meta-summary.")
        ] = None,
        searchText: Annotated[
            SearchText | None, Field(description="Text to find similar contexts for.")
        ] = None,
        limit: Annotated[
            int | None, Field(description="Most results, or messages of a page.")
        ] = None,
        targetId: Annotated[
            ContextId | None, Field(description="Identifier of the other context.")
        ] = None,
        relationshipType: Annotated[
            str | None, Field(description="Type of the relationship.")
        ] = None,
        strength: Annotated[
            float | None, Field(description="Weight of the relationship, 0 to 1.")
        ] = None,
        cursor: Older = None,
        direction: Annotated[
            DirectionName | None, Field(description="Which relationships count.")
        ] = None,
        undo: Annotated[
            bool, Field(description="Bring back what the last cleanup removed.")
        ] = False,
    ) -> dict[str, Any]:
        """Maintain conversation contexts: all actions in one tool, as POST /tools/context_memory.

        Every action but get_meta needs contextId; add needs role and content; find_similar
        searchText; add_relationship targetId and relationshipType; find_path targetId.
        """
        given = {
            "action": action,
            "contextId": contextId,
            "role": role,
            "content": content,
            "importance": importance,
            "tags": tags,
            "metaId": metaId,
            "searchText": searchText,
            "limit": limit,
            "targetId": targetId,
            "relationshipType": relationshipType,
            "strength": strength,
            "cursor": cursor,
            "direction": direction,
            "undo": undo,
        }
        return await conversations.actions.run(given)

    return Tool(
        context_memory,
        "Context memory",
        TOOLSET,
        Effect.DESTROYS,
        summary_seconds,
        error_body=_error_body,
    )


def _error_body(error: CtxError) -> dict[str, Any]:
    return {"success": False, "message": error.message, "error_code": error.code}


def _overview_tools(conversations: "Conversations") -> list[Tool]:
    async def visualize_context(
        contextId: ContextId,
        format: Annotated[Format, Field(description="Format of the picture.")] = "text",  # noqa: A002 - the parameter's name for callers
        depth: Depth = 2,
    ) -> TextResult:
        """Draw a context and the contexts related to it: as text, Mermaid or JSON."""
        diagram = await draw(conversations.records, conversations.relations, contextId, depth)
        text = diagram.rendered(format)
        return TextResult([text], {"format": format, "diagram": text})

    async def get_api_analytics(
        startTime: Milliseconds = None, endTime: Milliseconds = None
    ) -> CallStatistics:
        """Count the calls of vectors, relationships and summaries, with mean durations in ms."""
        return await conversations.calls.statistics(startTime, endTime)

    return [
        Tool(visualize_context, "Draw a context", TOOLSET, Effect.READS),
        Tool(get_api_analytics, "Call analytics", TOOLSET, Effect.READS),
    ]
