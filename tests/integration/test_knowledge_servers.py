"""Project knowledge through real server processes and real MCP clients."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp_types import TextContent

from scripts.bench.fixtures.clones import bare, identify
from tests.support.processes import ROOT, STOP_SECONDS, Server, environment, running
from tests.support.repositories import Repository

COMMAND = ("-m", "ctx_memory")
WRITES = 12  # of each sort by each server


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "shop")


def server_environment(folder: Path, project: Repository, **settings: str) -> dict[str, str]:
    return environment(folder, CTX_WORKSPACE=str(project.root), **settings)


@pytest.fixture
def server(tmp_path: Path, project: Repository) -> Iterator[Server]:
    with running(server_environment(tmp_path / "data", project), *COMMAND) as started:
        yield started


async def call(client: Client[Any], name: str, /, **arguments: Any) -> Any:
    answer = await client.call_tool_mcp(name, arguments)
    assert not answer.is_error, answer.content
    [content] = answer.content
    assert isinstance(content, TextContent)
    return json.loads(content.text)


async def write(url: str, who: str) -> None:
    """Write entries, decisions, sessions and ratings as fast as the server takes them."""
    async with Client(url) as client:
        await asyncio.gather(
            *(
                job
                for n in range(WRITES)
                for job in (
                    call(client, "context_add_knowledge", key=f"{who}-{n}", content=f"{who} {n}"),
                    call(client, "context_record_decision", title=f"Decision {n} of {who}"),
                    call(client, "context_append_session", summary=f"session {n} of {who}"),
                    call(client, "context_rate_skill", skill_name="deploy", rating=3, comment=who),
                )
            )
        )


async def test_two_servers_that_write_at_once_lose_nothing(
    server: Server, tmp_path: Path, project: Repository
) -> None:
    async with Client(server.memory_http) as client:
        await call(client, "context_add_skill", name="deploy", description="d", instructions="i")
    with running(server_environment(tmp_path / "more", project), *COMMAND) as second:
        await asyncio.gather(write(server.memory_http, "one"), write(second.memory_http, "two"))
        async with Client(second.memory_http) as client:
            entries = await call(client, "context_get", dotpath="knowledge")
            decisions = await call(client, "context_get", dotpath="decisions")
            sessions = await call(client, "context_get", dotpath="history")
            [feedback] = await client.read_resource("context://skills/deploy/feedback")
    names = [f"{who}-{n}" for who in ("one", "two") for n in range(WRITES)]
    assert sorted(entries) == sorted(names)
    assert [each["id"] for each in decisions] == list(range(1, 2 * WRITES + 1))
    assert len({each["id"] for each in sessions}) == 2 * WRITES
    assert len(json.loads(feedback.text)) == 2 * WRITES
    meta = json.loads((project.root / ".context-teleport/knowledge/.meta.json").read_text())
    assert len(meta) == 2 * WRITES
    leftovers = [
        p.name for p in (project.root / ".context-teleport").rglob(".*.????????????????????*")
    ]
    assert leftovers == []


async def test_a_stdio_server_serves_the_project_it_is_started_in(
    tmp_path: Path, project: Repository
) -> None:
    folder = project.root / "src" / "deep"
    folder.mkdir(parents=True)
    env = environment(tmp_path / "data", PYTHONPATH=str(ROOT), MCP_CALLER="mcp:claude-code")
    transport = StdioTransport(
        sys.executable,
        [*COMMAND, "--transports", "stdio"],
        env=env,
        cwd=str(folder),
        keep_alive=False,
    )
    async with Client(transport) as client:
        assert await call(client, "context_get", dotpath="manifest.project.name") == "shop"
        await call(client, "context_add_knowledge", key="a", content="text")
    assert (project.root / ".context-teleport" / "knowledge" / "a.md").read_text() == "text"
    meta = project.root / ".context-teleport" / "knowledge" / ".meta.json"
    assert json.loads(meta.read_text()) == {"a.md": {"author": "mcp:claude-code"}}
    wait_for_commit(project)  # the server pushes after its client has gone
    assert project.git("log", "-1", "--format=%s") == "ctx: update a knowledge"


async def test_ephemeral_entries_end_with_the_run_also_when_it_is_killed(
    tmp_path: Path, project: Repository
) -> None:
    env = server_environment(tmp_path / "data", project)
    expected: dict[str, str] = {}
    for end in (signal.SIGKILL, signal.SIGTERM, None):
        with running(env, *COMMAND) as started:
            async with Client(started.memory_http) as client:
                assert await call(client, "context_get", dotpath="knowledge") == expected
                if end is None:
                    break
                for key, scope in (("now", "ephemeral"), ("kept", "private")):
                    await call(
                        client,
                        "context_add_knowledge",
                        key=key,
                        content=f"{key} words",
                        scope=scope,
                    )
                found = await call(client, "context_get", dotpath="knowledge")
                assert set(found) == {"now", "kept"}
            started.process.send_signal(end)
            started.process.wait(20)
        expected = {"kept": "kept words"}
    assert b"now words" not in (tmp_path / "data" / "records.sqlite").read_bytes()
    assert not (project.root / ".context-teleport").exists()


async def test_a_server_that_stops_pushes_what_was_written(tmp_path: Path) -> None:
    area = tmp_path / "area"
    area.mkdir()
    remote = bare(area)
    clone(remote, area / "clone")
    env = server_environment(tmp_path / "data", Repository(area / "clone"))
    with running(env, *COMMAND) as started:
        async with Client(started.memory_http) as client:
            await call(client, "context_add_knowledge", key="a", content="text")
        assert started.stop(signal.SIGTERM) == 0
    listed = Repository(area / "clone").git("ls-tree", "-r", "--name-only", "origin/main")
    assert ".context-teleport/knowledge/a.md" in listed
    quiet = {**env, "CTX_KNOWLEDGE_PUSH_ON_STOP": "false"}
    with running(quiet, *COMMAND) as started:
        async with Client(started.memory_http) as client:
            await call(client, "context_add_knowledge", key="b", content="text")
        started.stop(signal.SIGTERM)
    assert "b.md" not in Repository(area / "clone").git("ls-tree", "-r", "--name-only", "HEAD")


def wait_for_commit(project: Repository) -> None:
    until = time.monotonic() + STOP_SECONDS
    while not project.git("rev-list", "--all") and time.monotonic() < until:
        time.sleep(0.1)


def clone(remote: Path, root: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(remote), str(root)], check=True)
    identify(root)


async def test_toolsets_and_read_only_hold_for_everything(
    server: Server, project: Repository
) -> None:
    read_only = StreamableHttpTransport(server.memory_http, headers={"X-MCP-Readonly": "true"})
    async with Client(read_only) as client:
        names = {tool.name for tool in await client.list_tools()}
        assert "context_search" in names
        assert not {"context_add_knowledge", "context_sync_push", "context_sync_pull"} & names
        refused = await client.call_tool_mcp("context_add_knowledge", {"key": "a", "content": "b"})
        assert refused.is_error
        assert refused.structured_content["status"] == "error"
        assert await client.read_resource("context://summary")
    async with Client(f"{server.memory_http}/x/memory") as client:
        for listed in (
            client.list_resources,
            client.list_resource_templates,
            client.list_prompts,
        ):
            with pytest.raises(Exception, match="offered no"):
                await listed()
        assert "context_search" not in {tool.name for tool in await client.list_tools()}
        with pytest.raises(Exception, match="toolset 'knowledge'"):
            await client.read_resource("context://summary")
        with pytest.raises(Exception, match="toolset 'knowledge'"):
            await client.get_prompt("context_onboarding")
    async with Client(f"{server.memory_http}/x/knowledge") as client:
        assert len([t for t in await client.list_tools() if t.name.startswith("context_")]) == 27
        assert (
            len(await client.list_resources()) + len(await client.list_resource_templates()) == 15
        )
        assert len(await client.list_prompts()) == 4
    assert not (project.root / ".context-teleport").exists()


async def test_the_rate_limit_and_tokens_hold_for_resources(
    tmp_path: Path, project: Repository
) -> None:
    env = server_environment(
        tmp_path / "data", project, CTX_AUTH_TOKENS="letmein", CTX_RATE_LIMIT_PER_MINUTE="3"
    )
    with running(env, *COMMAND) as started:
        with pytest.raises(Exception, match=r"error response|401"):
            async with Client(started.memory_http) as client:
                await client.read_resource("context://summary")
        transport = StreamableHttpTransport(started.memory_http, auth="letmein")
        async with Client(transport) as client:
            await client.read_resource("context://state")
            with pytest.raises(Exception, match="Too many calls"):
                await client.get_prompt("context_onboarding")
