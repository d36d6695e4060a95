"""The REST API of conversations."""

from collections.abc import Mapping
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ctx_core.errors import RequestInvalid
from ctx_core.serving.service import RestEndpoint, RestRequest, RestRoute
from ctx_memory.conversations.actions import similar_body
from ctx_memory.conversations.conversations import Conversations
from ctx_memory.conversations.openapi import INPUT_SCHEMA, OUTPUT_SCHEMA, document
from ctx_memory.conversations.requests import (
    DEFAULT_SIMILAR,
    MAX_SIMILAR,
    ContextId,
    DirectionName,
    RelationName,
    SearchText,
    validated,
)
from ctx_memory.conversations.responses import Body
from ctx_memory.records.conversations.relations import Direction, RelationType

NAME = "ctx-memory"
DESCRIPTION = "Conversation contexts for agents: messages, summaries, relationships."
TOOL_DESCRIPTION = "Maintain and retrieve conversation contexts for files or topics."


class _Similar(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: SearchText
    limit: int = Field(DEFAULT_SIMILAR, ge=0, le=MAX_SIMILAR)


class _Related(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    context_id: ContextId = Field(alias="contextId")
    type: RelationName | None = None
    direction: DirectionName = "both"


def rest_endpoint(conversations: Conversations, port: int, summary_seconds: float) -> RestEndpoint:
    """Return the REST API; `summary_seconds` is how long an action that summarises may take."""
    api = _Api(conversations)
    return RestEndpoint(
        port=port,
        routes=[
            RestRoute("GET", "/", api.information),
            RestRoute("POST", "/tools/context_memory", api.context_memory, summary_seconds),
            RestRoute("GET", "/contexts", api.contexts),
            RestRoute("GET", "/hierarchies", api.hierarchies),
            RestRoute("GET", "/meta-summaries", api.meta_summaries),
            RestRoute("GET", "/similar", api.similar),
            RestRoute("GET", "/related/{contextId:path}", api.related),
            RestRoute("GET", "/openapi.json", api.openapi),
        ],
        error_body=error_body,
    )


def error_body(status: int, message: str) -> Mapping[str, Any]:
    """Return the contract's body of an error."""
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        message = f"Error processing request: {message}"
    return {"success": False, "message": message}


class _Api:
    """The functions behind the routes."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    async def information(self, _: RestRequest) -> Body:
        tool = {
            "name": "context_memory",
            "description": TOOL_DESCRIPTION,
            "input_schema": INPUT_SCHEMA,
            "output_schema": OUTPUT_SCHEMA,
        }
        return {
            "name": NAME,
            "description": DESCRIPTION,
            "version": version("ctx-engine"),
            "tools": [tool],
        }

    async def context_memory(self, request: RestRequest) -> Body:
        if not isinstance(request.body, dict):
            raise RequestInvalid("Invalid JSON request: the body must be an object")
        return await self._conversations.actions.run(request.body)

    async def contexts(self, _: RestRequest) -> Body:
        ids = await self._conversations.messages.context_ids()
        return _ids("context", "contextIds", ids)

    async def hierarchies(self, _: RestRequest) -> Body:
        ids = await self._conversations.relations.hierarchical_ids()
        return _ids("hierarchical context", "hierarchicalIds", ids)

    async def meta_summaries(self, _: RestRequest) -> Body:
        ids = await self._conversations.relations.meta_ids()
        return _ids("meta-summary", "metaSummaryIds", ids)

    async def similar(self, request: RestRequest) -> Body:
        if not request.query.get("text"):
            raise RequestInvalid("Missing required parameter: text")
        asked = validated(_Similar, request.query)
        found = await self._conversations.similarity.find(
            asked.text, asked.limit or DEFAULT_SIMILAR
        )
        return similar_body(found, f"Found {len(found.found)} similar contexts")

    async def related(self, request: RestRequest) -> Body:
        asked = validated(_Related, {**request.query, **request.path})
        type_ = None if asked.type is None else RelationType(asked.type)
        ids = await self._conversations.relations.find_related(
            asked.context_id, type_, Direction(asked.direction)
        )
        return {
            "success": True,
            "message": f"Found {len(ids)} related contexts for '{asked.context_id}'",
            "relatedContexts": ids,
        }

    async def openapi(self, _: RestRequest) -> Mapping[str, Any]:
        return document(version("ctx-engine"), DESCRIPTION)


def _ids(what: str, key: str, ids: list[str]) -> Body:
    return {"success": True, "message": f"Retrieved {len(ids)} {what} IDs", key: ids}
