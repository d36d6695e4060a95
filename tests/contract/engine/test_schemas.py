"""Names, parameters and defaults of the memory tools: the contract's, and our own."""

import pytest

from ctx_core.serving.mcp.schemas import SPEAKING_NAMES
from tests.support.contract import Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")

REQUIRED = object()
OURS = {"session": None}  # the one parameter that goes beyond the contract
FILTERS = {"kind": None, "language": None, "topic": None, "tags": None, "priority_min": None}
PARAMETERS: dict[str, dict[str, object]] = {
    "store": {"information": REQUIRED, "metadata": None, "collection": None, **OURS},
    "find": {"query": REQUIRED, **FILTERS, "limit": 10, "collection": None, **OURS},
    "set_session_defaults": {"collection": None, "session": None, "project": None},
    # Not in the contract.
    "update_memory": {
        "memory_id": REQUIRED,
        "information": None,
        "metadata": None,
        "metadata_patch": None,
    },
    "delete_memory": {"memory_ids": REQUIRED},
    "list_memories": {
        **FILTERS,
        "limit": 20,
        "offset": 0,
        "include_forgotten": False,
        "collection": None,
        **OURS,
    },
    "rebuild_memories": {},
}
METADATA = {
    *("kind", "language", "path", "tags", "priority", "topic", "code", "author", "created_at"),
    *("expires_at", "supersedes"),  # beyond the contract
}
READING = {"find", "list_memories"}


async def test_parameters_and_defaults(tools: Tools) -> None:
    listed = {tool.name: tool for tool in await tools.client.list_tools()}
    for name, expected in PARAMETERS.items():
        schema = listed[name].input_schema
        required = schema.get("required", [])
        given = {
            parameter: REQUIRED if parameter in required else described.get("default")
            for parameter, described in schema.get("properties", {}).items()
        }
        assert given == expected, name


async def test_every_parameter_is_clear_and_readers_are_marked(tools: Tools) -> None:
    listed = {tool.name: tool for tool in await tools.client.list_tools()}
    for name in PARAMETERS:
        tool = listed[name]
        assert tool.description
        for parameter, described in tool.input_schema.get("properties", {}).items():
            is_clear = described.get("description") or parameter in SPEAKING_NAMES
            assert is_clear, f"{name}.{parameter}"
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in READING), name


async def test_metadata_has_the_fields_of_the_contract(tools: Tools) -> None:
    listed = {tool.name: tool for tool in await tools.client.list_tools()}
    for name in ("store", "update_memory"):
        schema = listed[name].input_schema
        described = schema["properties"]["metadata"]
        if "$ref" in described:
            described = schema["$defs"][described["$ref"].rsplit("/", maxsplit=1)[1]]
        assert set(described["properties"]) == METADATA, name
