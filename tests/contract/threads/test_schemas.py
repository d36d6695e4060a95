"""Names, parameters and defaults of the thread tools, as the contract has them."""

from collections.abc import Mapping

import pytest

from ctx_core.serving.mcp.schemas import SPEAKING_NAMES
from tests.support.contract import Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")

REQUIRED = object()
FILTERS = {
    "thread_id": None,
    "source": None,
    "tags": None,
    "content_type": None,
    "metadata": None,
    "metadata_filters": None,
    "start_date": None,
    "end_date": None,
}
SHOWN = {"offset": 0, "include_images": False, "explain_query": False}
PARAMETERS: Mapping[str, Mapping[str, object]] = {
    "store_context": {
        "thread_id": REQUIRED,
        "source": REQUIRED,
        "text": REQUIRED,
        "images": None,
        "metadata": None,
        "tags": None,
    },
    "search_context": {**FILTERS, **SHOWN, "limit": 30},
    "get_context_by_ids": {"context_ids": REQUIRED, "include_images": True},
    "delete_context": {"context_ids": None, "thread_id": None},
    "list_threads": {"limit": None, "offset": 0},
    "get_statistics": {},
    "update_context": {
        "context_id": REQUIRED,
        "text": None,
        "metadata": None,
        "metadata_patch": None,
        "tags": None,
        "images": None,
    },
    "semantic_search_context": {"query": REQUIRED, **FILTERS, **SHOWN, "limit": 5},
    "fts_search_context": {
        "query": REQUIRED,
        "mode": "match",
        "highlight": False,
        **FILTERS,
        **SHOWN,
        "limit": 5,
    },
    "hybrid_search_context": {
        "query": REQUIRED,
        "search_modes": None,
        "fusion_method": "rrf",
        "rrf_k": None,
        **FILTERS,
        **SHOWN,
        "limit": 5,
    },
    "store_context_batch": {"entries": REQUIRED, "atomic": True},
    "update_context_batch": {"updates": REQUIRED, "atomic": True},
    "delete_context_batch": {
        "context_ids": None,
        "thread_ids": None,
        "source": None,
        "older_than_days": None,
    },
}
READING = {
    "search_context",
    "get_context_by_ids",
    "list_threads",
    "get_statistics",
    "semantic_search_context",
    "fts_search_context",
    "hybrid_search_context",
}


async def test_all_thirteen_tools_with_their_parameters_and_defaults(tools: Tools) -> None:
    listed = {tool.name: tool for tool in await tools.client.list_tools()}
    assert len(PARAMETERS) == 13
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
        if name not in READING:
            destroys = name.startswith(("update", "delete"))
            assert tool.annotations.destructive_hint is destroys, name
        if name.startswith("update"):
            assert tool.annotations.idempotent_hint is False


async def test_the_items_of_batches_are_described(tools: Tools) -> None:
    listed = {tool.name: tool for tool in await tools.client.list_tools()}
    for batch, items, single in (
        ("store_context_batch", "entries", "store_context"),
        ("update_context_batch", "updates", "update_context"),
    ):
        described = listed[batch].input_schema["properties"][items]["items"]
        assert set(described["properties"]) == set(PARAMETERS[single])
