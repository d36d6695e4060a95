"""The ten actions of `context_memory`, for MCP and REST alike."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from ctx_core.errors import DecoderFailed, NotPermitted
from ctx_memory.conversations import requests
from ctx_memory.conversations.messages import Messages
from ctx_memory.conversations.relations import Relations
from ctx_memory.conversations.responses import Body, SimilarContext
from ctx_memory.conversations.similarity import SimilarContexts, Similarity
from ctx_memory.conversations.upkeep import UNDO, Upkeep
from ctx_memory.records.conversations.relations import Direction, RelationType

Handler = Callable[[Any], Awaitable[Body]]


class ContextMemory:
    """Runs actions; with `read_only` it refuses actions that write."""

    def __init__(
        self,
        messages: Messages,
        relations: Relations,
        similarity: Similarity,
        upkeep: Upkeep,
        *,
        read_only: bool,
    ) -> None:
        self._messages = messages
        self._relations = relations
        self._similarity = similarity
        self._upkeep = upkeep
        self._read_only = read_only
        self._handlers: Mapping[str, Handler] = {
            "add": self._add,
            "retrieve": self._retrieve,
            "summarize": self._summarize,
            "get_related": self._get_related,
            "get_hierarchy": self._get_hierarchy,
            "get_meta": self._get_meta,
            "find_similar": self._find_similar,
            "add_relationship": self._add_relationship,
            "find_path": self._find_path,
            "cleanup": self._cleanup,
        }

    async def run(self, given: Mapping[str, Any]) -> Body:
        """Run an action; return the contract's body. Raises RequestInvalid or NotPermitted."""
        request = requests.parse(given)
        if self._read_only and request.action in requests.WRITING:
            raise NotPermitted(f"This server only reads (CTX_READ_ONLY): {request.action} writes")
        return await self._handlers[request.action](request)

    async def _add(self, request: requests.Add) -> Body:
        warnings = await self._messages.add(
            request.context_id,
            request.role,
            request.content,
            request.importance,
            request.tags or [],
        )
        more = {"warnings": list(warnings)} if warnings else {}
        return _success(f"Message added to context '{request.context_id}'", **more)

    async def _retrieve(self, request: requests.Retrieve) -> Body:
        found = await self._messages.retrieve(request.context_id, request.limit, request.cursor)
        return _success(f"Retrieved context for '{request.context_id}'", **found)

    async def _summarize(self, request: requests.Summarize) -> Body:
        id_ = request.context_id
        failure = {"success": False, "message": f"Could not generate summary for context '{id_}'"}
        try:
            summary = await self._messages.summarize(id_)
        except DecoderFailed as error:
            return {**failure, "reason": error.message}
        if summary is None:
            return {**failure, "reason": "the context has no messages"}
        return _success(f"Summary generated for context '{id_}'", summary=summary)

    async def _get_related(self, request: requests.GetRelated) -> Body:
        type_ = None if request.type is None else RelationType(request.type)
        direction = Direction(request.direction or Direction.BOTH)
        found = await self._relations.find_related(request.context_id, type_, direction)
        return _success(
            f"Retrieved related contexts for '{request.context_id}'", relatedContexts=found
        )

    async def _get_hierarchy(self, request: requests.GetHierarchy) -> Body:
        id_ = request.context_id
        body = _success(
            f"Retrieved hierarchical information for '{id_}'",
            hierarchicalStructure=await self._relations.structure(id_),
        )
        summary = await self._relations.hierarchical_summary(id_)
        return body if summary is None else {**body, "hierarchicalSummary": summary}

    async def _get_meta(self, request: requests.GetMeta) -> Body:
        id_ = request.meta_id
        if id_ is None:
            ids = await self._relations.meta_ids()
            return _success(f"Retrieved {len(ids)} meta-summary IDs", metaSummaryIds=ids)
        summary = await self._relations.meta_summary(id_)
        if summary is None:
            return {"success": False, "message": f"Meta-summary with ID '{id_}' not found"}
        return _success(f"Retrieved meta-summary '{id_}'", metaSummary=summary)

    async def _find_similar(self, request: requests.FindSimilar) -> Body:
        limit = request.limit or requests.DEFAULT_SIMILAR
        found = await self._similarity.find(request.search_text, limit)
        return similar_body(found, f"Found {len(found.found)} similar contexts to the search text")

    async def _add_relationship(self, request: requests.AddRelationship) -> Body:
        given = requests.DEFAULT_WEIGHT if request.strength is None else request.strength
        weight = min(1.0, max(0.0, given))
        type_ = RelationType(request.type)
        await self._relations.add(request.context_id, request.target_id, type_, weight)
        return _success(
            f"Added {type_.value} relationship from '{request.context_id}' to "
            f"'{request.target_id}'",
            strength=weight,
        )

    async def _find_path(self, request: requests.FindPath) -> Body:
        ends = f"between '{request.context_id}' and '{request.target_id}'"
        path = await self._relations.path(request.context_id, request.target_id)
        text = f"Found path with {len(path)} nodes {ends}" if path else f"No path found {ends}"
        return _success(text, path=path)

    async def _cleanup(self, request: requests.Cleanup) -> Body:
        if request.undo:
            restored = await self._upkeep.undo(request.context_id)
            return _success(f"Restored {len(restored)} contexts", restoredContexts=restored)
        result = await self._upkeep.clean_up(request.context_id)
        body = _success(
            f"Cleaned up {len(result.removed)} irrelevant contexts",
            cleanedContexts=list(result.removed),
        )
        if result.removed:
            body["undo"] = f"cleanup with undo: true restores them for {UNDO.days} days"
        if result.reason is not None:
            body["reason"] = result.reason
        return body


def similar_body(found: SimilarContexts, message: str) -> Body:
    """Return the contract's body of similar contexts; `comparedBy` is `vectors` or `words`."""
    body = _success(message, similarContexts=similar_contexts(found), comparedBy=found.by)
    return {**body, "degraded": list(found.degraded)} if found.degraded else body


def similar_contexts(found: SimilarContexts) -> list[SimilarContext]:
    return [{"contextId": id_, "similarity": score} for id_, score in found.found]


def _success(message: str, **more: Any) -> Body:
    return cast(Body, {"success": True, "message": message, **more})
