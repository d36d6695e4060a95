"""What every tool owes a client: docs/tool-answers.md, as far as it can be checked."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client
from mcp_types import TextContent

from ctx_core.serving.combined import combined
from ctx_core.serving.service import Service
from tests.contract.test_token_costs import listed, served
from tests.support.corpus import FILES
from tests.support.repositories import Repository

ROOT = Path(__file__).parents[2]
MOST_WORDS = 150  # of the instructions of a server
LONGEST_SUMMARY = 120  # characters of the first sentence of a description
CALL = re.compile(r"A call of `(\w+)`:\n\n```json\n(.*?)\n```\n\n```text\n(.*?)\n```", re.DOTALL)
PAGE = (ROOT / "docs" / "tool-answers.md").read_text()
EXAMPLES = CALL.findall(PAGE)
Opened = dict[str, tuple[Client[Any], Service]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    """Both servers over a small repository with much project knowledge."""
    area = tmp_path_factory.mktemp("manners")
    Repository.create(area / "shop")
    for name, text in FILES.items():
        (area / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (area / "shop" / name).write_text(text)
    async with served("memory", area, "all") as (client, _):
        for number in range(30):
            key = {"key": f"about-{number}", "content": "Retries wait."}
            await client.call_tool("context_add_knowledge", key)
            await client.call_tool("context_add_convention", key)
        await client.call_tool("context_update_state", {"current_task": "Retry again. " * 100})
    async with (
        served("indexer", area, "all") as indexer,
        served("memory", area, "all") as memory,
    ):
        await indexer[0].call_tool("qdrant_index", {})
        yield {"indexer": indexer, "memory": memory}


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.asyncio(loop_scope="module")
async def test_instructions_are_short(servers: Opened) -> None:
    memory, indexer = servers["memory"][1], servers["indexer"][1]
    both = combined([memory, indexer], 1)
    assert "Project" in memory.about_project
    assert memory.about_project in both.about_project
    assert "`memory_set_session_defaults`" in both.instructions
    for service in (memory, indexer, both):
        text = f"{service.instructions}\n{service.about_project}"
        assert 20 < words(text) < MOST_WORDS, service.name
        named = set(re.findall(r"`([a-z_]+)`", service.instructions))
        known = {tool.name for tool in service.tools}
        assert {name for name in named if not name.endswith("_")} <= known


@pytest.mark.parametrize("server", ["indexer", "memory"])
@pytest.mark.asyncio(loop_scope="module")
async def test_every_tool_has_a_title_a_summary_and_annotations(
    servers: Opened, server: str
) -> None:
    for tool in await servers[server][0].list_tools():
        assert tool.title, tool.name
        summary, *rest = (tool.description or "").split("\n")
        assert summary.endswith("."), (tool.name, summary)
        assert len(summary) <= LONGEST_SUMMARY, (tool.name, summary)
        assert not rest or rest[0] == "", tool.name
        hints = tool.annotations
        assert hints is not None
        assert hints.read_only_hint is not None, tool.name
        if not hints.read_only_hint:
            assert hints.destructive_hint is not None, tool.name
            assert hints.idempotent_hint is not None, tool.name


@pytest.mark.parametrize("server", ["indexer", "memory"])
@pytest.mark.asyncio(loop_scope="module")
async def test_the_listed_tools_are_the_committed_ones(servers: Opened, server: str) -> None:
    committed = json.loads((ROOT / "tests" / "golden" / f"tools_{server}.json").read_text())
    seen = await listed(servers[server][0])
    assert seen.keys() == committed.keys(), "write it anew: .venv/bin/python scripts/docs.py"
    for name, tool in seen.items():
        assert tool == committed[name], "write it anew: .venv/bin/python scripts/docs.py"


def test_the_page_has_an_example_of_every_rule() -> None:
    assert [tool for tool, _, _ in EXAMPLES] == [
        "repo_search",
        "exact_search",
        "repo_search",
        "exact_search",
    ]


@pytest.mark.parametrize(("tool", "arguments", "text"), EXAMPLES)
@pytest.mark.asyncio(loop_scope="module")
async def test_the_examples_are_true(servers: Opened, tool: str, arguments: str, text: str) -> None:
    given = json.loads(arguments)
    answer = await servers["indexer"][0].call_tool(tool, given, raise_on_error=False)
    blocks = [block.text for block in answer.content if isinstance(block, TextContent)]
    assert "\n".join(blocks) == text
    assert answer.structured_content is not None
    assert answer.structured_content["ok"] is not answer.is_error
    assert answer.is_error == ("error_code" in answer.structured_content)
    assert ("warning: " in text) == ("warnings" in answer.structured_content)
    assert "degraded" not in answer.structured_content


@pytest.mark.asyncio(loop_scope="module")
async def test_the_next_page_goes_on(servers: Opened) -> None:
    client = servers["indexer"][0]
    asked = {"query": "how are failed calls retried", "limit": 2}
    pages = [
        (await client.call_tool("repo_search", {**asked, "offset": offset})).structured_content
        for offset in (0, 2, 4)
    ]
    places = [(hit["path"], hit["start_line"]) for page in pages if page for hit in page["results"]]
    assert pages[0] is not None
    assert len(set(places)) == len(places) == pages[0]["total"]


@pytest.mark.asyncio(loop_scope="module")
async def test_text_of_other_tools_is_their_object(servers: Opened) -> None:
    answer = await servers["memory"][0].call_tool("list_memories", {})
    [block] = answer.content
    assert isinstance(block, TextContent)
    assert "\n" not in block.text
    assert json.loads(block.text) == answer.structured_content
