"""Every argument of every tool with values that no tool can use: never a defect of ours."""

import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client

from ctx_core.engine.engine import open_engines
from ctx_core.serving.mcp.pipeline import ToolPipeline
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.service import Service
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer
from ctx_memory.service import open_memory
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEST = 65  # times two levels: more than tools take, fewer than the client refuses to send
VALUES: Mapping[str, Any] = {
    "a NUL": "a\0b",
    "half a character": "a\ud800b",
    "a long path": "a/" * 3_000,
    "a long name": "n" * 5_000,
    "a loop of links": "loop/x",
    "past 2^63": 2**63,
    "before -2^63": -(2**63) - 1,
    "4,200 digits": 10**4_200,
    "4,200 digits as text": "9" * 4_200,
    "the first moment": "0001-01-01T00:00:00+14:00",
    "the last moment": "9999-12-31T23:59:59-14:00",
    "no year": "10000-01-01",
    "deep JSON as text": "[" * 1_000 + "]" * 1_000,
    "infinity": float("inf"),
    "no number": float("nan"),
    "a list of NULs": ["a\0b"],
    "a list of half characters": ["\ud800"],
    "an object of both": {"a\0": "\0", "b": "\ud800"},
    "a list of large numbers": [2**63, 10**400],
    "an empty text": "",
    "null": None,
}
ANSWERS = {"VALIDATION_ERROR", "ENTRY_NOT_FOUND", "COLLECTION_NOT_FOUND", "GIT_ERROR"}


@dataclass(frozen=True)
class Opened:
    """A server of this process, a client of it, and the schemas of its tools."""

    client: Client[Any]
    schemas: Mapping[str, Mapping[str, Any]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[Opened]]:
    area = tmp_path_factory.mktemp("bad")
    workspace = Repository.create(area / "project")
    workspace.write("a.py", "def a(): ...\n")
    (workspace.root / "loop").symlink_to("loop")
    settings = Settings(
        data_dir=area / "data", workspace=workspace.root, knowledge_push_on_stop=False
    )
    async with (
        open_engines(settings) as engines,
        open_memory(settings, engines.memory) as memory,
        open_indexer(settings, engines.code, memory.memories) as indexer,
        _client(memory.service, settings) as first,
        _client(indexer.service, settings) as second,
    ):
        await second.call_tool("qdrant_index_root", {})
        yield [Opened(first, _schemas(first)), Opened(second, _schemas(second))]


def _client(service: Service, settings: Settings) -> Client[Any]:
    return Client(build(service, settings, Metrics(service.name, {})), timeout=60)


def _schemas(client: Client[Any]) -> Mapping[str, Mapping[str, Any]]:
    middleware = client.transport.server.middleware
    [pipeline] = [each for each in middleware if isinstance(each, ToolPipeline)]
    return pipeline.schemas


def _sample(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """Return a value that a schema admits."""
    if "$ref" in schema:
        return _sample(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "anyOf" in schema:
        return _sample(schema["anyOf"][0], root)
    match schema.get("type"):
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "array":
            return [_sample(schema.get("items", {}), root)]
        case "object":
            required = schema.get("required", ())
            return {name: _sample(schema["properties"][name], root) for name in required}
    return "sample"


@pytest.mark.parametrize("value", VALUES)
async def test_no_value_of_any_argument_is_a_defect(servers: list[Opened], value: str) -> None:
    logging.disable(logging.ERROR)
    try:
        wrong = [found for opened in servers for found in await _wrong(opened, VALUES[value])]
    finally:
        logging.disable(logging.NOTSET)
    assert wrong == []


async def _wrong(opened: Opened, value: Any) -> list[str]:
    """Call every tool with the value in one argument after the other."""
    wrong = []
    for tool, schema in opened.schemas.items():
        properties = schema.get("properties", {})
        base = {name: _sample(properties[name], schema) for name in schema.get("required", ())}
        for name in properties:
            answer = await opened.client.call_tool(
                tool, {**base, name: value}, raise_on_error=False
            )
            body = answer.structured_content or {}
            if answer.is_error and body.get("error_code", "VALIDATION_ERROR") not in ANSWERS:
                wrong.append(f"{tool}.{name}: {body}")
            if answer.is_error and not body:
                wrong.append(f"{tool}.{name}: {answer.content}")
    return wrong


async def test_nesting_is_refused_by_name(servers: list[Opened]) -> None:
    value: Any = "x"
    for _ in range(NEST):
        value = {"a": [value]}
    answer = await servers[0].client.call_tool(
        "store", {"information": "x", "metadata": value}, raise_on_error=False
    )
    assert answer.structured_content is not None
    assert answer.structured_content["details"]["field"] == "metadata"


async def test_a_path_that_no_file_has_is_refused_by_name(servers: list[Opened]) -> None:
    for value in ("a\0b", "a/" * 3_000, "n" * 5_000, "loop/x"):
        answer = await servers[1].client.call_tool(
            "qdrant_index", {"subdir": value}, raise_on_error=False
        )
        assert answer.structured_content is not None
        assert answer.structured_content["error_code"] == "VALIDATION_ERROR"
        assert answer.structured_content["details"]["field"] == "subdir"
