"""The OpenAPI document of the REST API, from the models of its requests and responses."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from ctx_memory.conversations.requests import (
    ACTIONS,
    DEFAULT_SIMILAR,
    ID_PATTERN,
    MAX_ID,
    MAX_SEARCH_TEXT,
    MAX_SIMILAR,
    NO_NUL,
)
from ctx_memory.conversations.responses import (
    ContextSummary,
    HierarchicalSummary,
    Message,
    MetaSummary,
    SimilarContext,
)
from ctx_memory.records.conversations.relations import Direction, RelationType

SCHEMAS = "#/components/schemas/"
TYPES = [each.value for each in RelationType]
DIRECTIONS = [each.value for each in Direction]
STRINGS = {"type": "array", "items": {"type": "string"}}
MODELS = {
    "Message": Message,
    "ContextSummary": ContextSummary,
    "HierarchicalSummary": HierarchicalSummary,
    "MetaSummary": MetaSummary,
    "SimilarContext": SimilarContext,
}
TEXT = {"type": "string"}

# The one tool's arguments and result as GET / shows them.
INPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": list(ACTIONS)},
        "contextId": {**TEXT, "description": "Context identifier"},
        "role": {"type": "string", "enum": ["user", "assistant"]},
        "content": {**TEXT, "description": "Message content"},
        "importance": {"type": "string", "enum": ["low", "medium", "high", "critical"]},
        "tags": {**STRINGS, "description": "Tags of the message"},
        "metaId": {**TEXT, "description": "Meta-summary identifier"},
        "searchText": {**TEXT, "description": "Text to find similar contexts for"},
        "limit": {"type": "number", "description": "Most results; messages of a page"},
        "targetId": {**TEXT, "description": "Target context of a relationship or path"},
        "relationshipType": {"type": "string", "enum": TYPES},
        "strength": {"type": "number", "minimum": 0, "maximum": 1},
        "cursor": {"type": "number", "description": "nextCursor of the page before"},
        "direction": {"type": "string", "enum": DIRECTIONS},
        "undo": {"type": "boolean", "description": "Undo cleanups for the context"},
    },
    "required": ["action"],
}


def _optional(reference: str) -> dict[str, Any]:
    return {"anyOf": [{"$ref": reference}, {"type": "null"}]}


OUTPUT_PROPERTIES: dict[str, Any] = {
    "success": {"type": "boolean"},
    "message": TEXT,
    "contextId": TEXT,
    "messages": {"type": "array", "items": {"$ref": f"{SCHEMAS}Message"}},
    "totalMessages": {"type": "integer"},
    "nextCursor": {"type": "integer"},
    "summary": _optional(f"{SCHEMAS}ContextSummary"),
    "relatedContexts": STRINGS,
    "hierarchicalStructure": {
        "type": "object",
        "properties": {"parent": TEXT, "children": STRINGS},
        "required": ["children"],
    },
    "hierarchicalSummary": {"$ref": f"{SCHEMAS}HierarchicalSummary"},
    "metaSummaryIds": STRINGS,
    "metaSummary": {"$ref": f"{SCHEMAS}MetaSummary"},
    "similarContexts": {"type": "array", "items": {"$ref": f"{SCHEMAS}SimilarContext"}},
    "comparedBy": {"type": "string", "enum": ["vectors", "words"]},
    "degraded": STRINGS,
    "strength": {"type": "number"},
    "path": STRINGS,
    "cleanedContexts": STRINGS,
    "restoredContexts": STRINGS,
    "undo": TEXT,
    "reason": TEXT,
    "warnings": STRINGS,
}


def _result(*required: str) -> dict[str, Any]:
    """Return the schema of a result with these keys beside `success` and `message`."""
    names = ("success", "message", *required)
    optional = ("degraded", "comparedBy") if "similarContexts" in required else ()
    return {
        "type": "object",
        "properties": {name: OUTPUT_PROPERTIES[name] for name in (*names, *optional)},
        "required": list(names),
    }


def _inlined(value: Any, schemas: Mapping[str, Any]) -> Any:
    """Replace each `$ref` by the schema that it names."""
    if isinstance(value, dict):
        if "$ref" in value:
            return schemas[value["$ref"].removeprefix(SCHEMAS)]
        return {key: _inlined(each, schemas) for key, each in value.items()}
    return [_inlined(each, schemas) for each in value] if isinstance(value, list) else value


def _model_schemas() -> dict[str, Any]:
    return {name: TypeAdapter(model).json_schema() for name, model in MODELS.items()}


OUTPUT_SCHEMA: dict[str, Any] = _inlined(
    {"type": "object", "properties": OUTPUT_PROPERTIES, "required": ["success", "message"]},
    _model_schemas(),
)


@lru_cache(maxsize=1)
def document(version: str, description: str) -> Mapping[str, Any]:
    """Return the OpenAPI document."""
    schemas = _model_schemas()
    schemas |= {
        model.__name__: TypeAdapter(model).json_schema(by_alias=True) for model in ACTIONS.values()
    }
    schemas["Error"] = {
        "type": "object",
        "properties": {"success": {"type": "boolean", "const": False}, "message": TEXT},
        "required": ["success", "message"],
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Conversations", "version": version, "description": description},
        "paths": _paths(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"bearer": []}],
    }


def _paths() -> dict[str, Any]:
    information = {"type": "object", "required": ["name", "description", "version", "tools"]}
    return {
        "/": {"get": _operation("Information about the server", information)},
        "/openapi.json": {"get": _operation("This document", {"type": "object"})},
        "/contexts": {"get": _operation("All contexts", _list("contextIds"))},
        "/hierarchies": {"get": _operation("All hierarchies", _list("hierarchicalIds"))},
        "/meta-summaries": {"get": _operation("All meta-summaries", _result("metaSummaryIds"))},
        "/similar": {"get": _similar()},
        "/related/{contextId}": {"get": _related()},
        "/tools/context_memory": {"post": _context_memory()},
    }


def _list(key: str) -> dict[str, Any]:
    result = _result()
    result["properties"][key] = STRINGS
    result["required"].append(key)
    return result


def _similar() -> dict[str, Any]:
    text = {"type": "string", "minLength": 1, "maxLength": MAX_SEARCH_TEXT, "pattern": NO_NUL}
    limit = {
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_SIMILAR,
        "default": DEFAULT_SIMILAR,
    }
    operation = _operation("Contexts similar to a text", _result("similarContexts"), 400)
    operation["parameters"] = [
        _parameter("text", "query", text, required=True),
        _parameter("limit", "query", limit),
    ]
    return operation


def _related() -> dict[str, Any]:
    id_ = {"type": "string", "minLength": 1, "maxLength": MAX_ID, "pattern": ID_PATTERN}
    operation = _operation("Contexts related to one", _result("relatedContexts"), 400)
    operation["parameters"] = [
        _parameter("contextId", "path", id_, required=True),
        _parameter("type", "query", {"type": "string", "enum": TYPES}),
        _parameter("direction", "query", {"type": "string", "enum": DIRECTIONS, "default": "both"}),
    ]
    return operation


def _context_memory() -> dict[str, Any]:
    result = {
        "type": "object",
        "properties": OUTPUT_PROPERTIES,
        "required": ["success", "message"],
    }
    operation = _operation("Run one of ten actions", result, 400)
    models = [{"$ref": f"{SCHEMAS}{model.__name__}"} for model in ACTIONS.values()]
    mapping = {name: f"{SCHEMAS}{model.__name__}" for name, model in ACTIONS.items()}
    schema = {"oneOf": models, "discriminator": {"propertyName": "action", "mapping": mapping}}
    operation["requestBody"] = {
        "required": True,
        "content": {"application/json": {"schema": schema}},
    }
    return operation


def _parameter(
    name: str, place: str, schema: Mapping[str, Any], *, required: bool = False
) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": schema}


def _operation(summary: str, result: Mapping[str, Any], *errors: int) -> dict[str, Any]:
    def response(description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {"description": description, "content": {"application/json": {"schema": schema}}}

    error = {"$ref": f"{SCHEMAS}Error"}
    responses = {"200": response("The result", result)}
    responses |= {
        str(status): response("What is wrong with the request", error) for status in errors
    }
    return {"summary": summary, "responses": {**responses, "default": response("An error", error)}}
