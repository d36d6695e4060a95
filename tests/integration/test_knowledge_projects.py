"""Which project's knowledge a server serves: its own, the session's, the one that is named."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from scripts.bench.fixtures.repositories import Repository
from tests.support.mcp_clients import LEGACY
from tests.support.processes import Server, environment, running


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "shop")


@pytest.fixture
def depot(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "more" / "depot")


@pytest.fixture
def server(tmp_path: Path, shop: Repository, depot: Repository) -> Iterator[Server]:
    env = environment(
        tmp_path / "data",
        CTX_WORKSPACE=str(shop.root),
        CTX_WORKSPACE_ROOTS=str(depot.root.parent),
        CTX_KNOWLEDGE_PUSH_ON_STOP="false",
    )
    with running(env, "-m", "ctx_memory") as started:
        yield started


def entries(project: Repository) -> set[str]:
    return {path.stem for path in (project.root / ".context-teleport" / "knowledge").glob("*.md")}


async def add(client: Client[Any], key: str, **arguments: Any) -> None:
    answer = await client.call_tool_mcp(
        "context_add_knowledge", {"key": key, "content": f"text of {key}", **arguments}
    )
    assert not answer.is_error, answer.content


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_the_default_project_of_a_session(
    server: Server, shop: Repository, depot: Repository, tmp_path: Path, transport: str
) -> None:
    url = server.memory_http if transport == "http" else server.memory_sse
    async with Client(url, mode=LEGACY) as one, Client(url, mode=LEGACY) as two:
        chosen = await one.call_tool("set_session_defaults", {"project": str(depot.root)})
        assert chosen.structured_content["defaults"] == {"project": str(depot.root)}
        assert chosen.structured_content["applied"] == "connection"
        await add(one, "of-the-session")
        await add(one, "named", project=str(shop.root))
        await add(two, "of-the-server")
        [summary] = await one.read_resource("context://summary")
        assert json.loads(summary.text)["project"] == "depot"
        prompt = await one.get_prompt("context_onboarding")
        assert prompt.messages[0].content.text.startswith("# Project: depot")
        outside = await one.call_tool_mcp("set_session_defaults", {"project": str(tmp_path)})
        assert outside.is_error
        await add(one, "still-of-the-session")
    assert entries(depot) == {"of-the-session", "still-of-the-session"}
    assert entries(shop) == {"named", "of-the-server"}


async def test_a_folder_is_not_made_where_that_is_forbidden(
    tmp_path: Path, shop: Repository
) -> None:
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(shop.root), CTX_NO_AUTO_INIT="1")
    with running(env, "-m", "ctx_memory") as started:
        async with Client(started.memory_http) as client:
            refused = await client.call_tool_mcp(
                "context_add_knowledge", {"key": "a", "content": "text"}
            )
            assert refused.is_error
            assert "CTX_NO_AUTO_INIT" in refused.structured_content["error"]
            assert "create the folder .context-teleport" in refused.structured_content["error"]
            assert not (shop.root / ".context-teleport").exists()
            (shop.root / ".context-teleport").mkdir()
            await add(client, "a")
    assert entries(shop) == {"a"}
