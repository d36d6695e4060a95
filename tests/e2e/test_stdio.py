"""`ctx stdio`: both servers at once over standard input and output, with the embedded engine."""

import asyncio
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from ctx_core.vectors.folder_lock import folder_owner
from tests.support.mcp_clients import LEGACY
from tests.support.processes import ROOT, environment, run_ctx, running

STOP_SECONDS = 60.0  # a loaded machine; the servers look for clients every few seconds
FIRST_ANSWER_SECONDS = 3.0  # on an idle machine
LOADED_CPU = 2  # times as much computing: two processes share a core
LOADED = 5  # times as long on a machine that runs other tests


@pytest.fixture
def env(tmp_path: Path) -> Iterator[dict[str, str]]:
    env = environment(tmp_path / "data", HOME=str(tmp_path), PYTHONPATH=str(ROOT))
    yield env
    wait_until_stopped(env)


def transport(service: str, env: dict[str, str], folder: Path) -> StdioTransport:
    arguments = ["-m", "ctx", "stdio", service]
    # Ended with its client, as other clients end their servers.
    return StdioTransport(sys.executable, arguments, env=env, cwd=str(folder), keep_alive=False)


def is_up(env: dict[str, str]) -> bool:
    port = int(env["CTX_MEMORY_HTTP_PORT"]) + 10_000
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/livez", timeout=1):
            return True
    except (urllib.error.URLError, OSError):
        return False


def computed_seconds(env: dict[str, str]) -> float:
    """The CPU seconds of the servers: a cold start waits for little else."""
    folder = Path(env["CTX_DATA_DIR"]) / "run" / env["CTX_INDEXER_HTTP_PORT"]
    owner = folder_owner(folder)
    assert owner is not None
    fields = Path(f"/proc/{owner.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_stopped(env: dict[str, str]) -> None:
    until = time.monotonic() + STOP_SECONDS
    while is_up(env):
        assert time.monotonic() < until, "the servers outlive their clients"
        time.sleep(0.2)


@pytest.mark.parametrize("mode", ["auto", LEGACY])
async def test_both_servers_at_once_from_any_folder(
    env: dict[str, str], tmp_path: Path, mode: str
) -> None:
    """The first client starts in the home folder, the second in a project."""
    project = tmp_path / "project"
    project.mkdir()
    async with Client(transport("memory", env, tmp_path), mode=mode) as memory:
        assert await memory.list_tools()
        assert computed_seconds(env) < FIRST_ANSWER_SECONDS * LOADED_CPU
        started = time.monotonic()
        async with Client(transport("indexer", env, project), mode=mode) as indexer:
            assert "repo_search" in [tool.name for tool in await indexer.list_tools()]
            assert time.monotonic() - started < FIRST_ANSWER_SECONDS * LOADED
            stored = await memory.call_tool("store", {"information": "Retries — with jitter ✓"})
            found = await memory.call_tool("find", {"query": "jitter"})
            [hit] = found.structured_content["results"]
            assert hit["information"] == "Retries — with jitter ✓"
            assert hit["id"] == stored.structured_content["id"]
            through = await indexer.call_tool("memory_store", {"information": "By the indexer."})
            assert through.structured_content["ok"]
            refused = await indexer.call_tool(
                "repo_search", {"query": "x", "collection": "none"}, raise_on_error=False
            )
            assert refused.is_error
            assert refused.structured_content["error_code"] == "COLLECTION_NOT_FOUND"
    wait_until_stopped(env)


async def test_it_joins_ctx_up_which_stays(env: dict[str, str], tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with running(env, cwd=workspace):
        async with Client(transport("memory", env, tmp_path)) as memory:
            assert await memory.list_tools()
        async with Client(transport("both", env, tmp_path)) as both:
            names = {tool.name for tool in await both.list_tools()}
            assert {"store", "repo_search", "memory_set_session_defaults"} <= names
        await asyncio.sleep(6)  # longer than the servers of `ctx stdio` would stay
        assert is_up(env)


def test_servers_that_cannot_start_say_why(env: dict[str, str]) -> None:
    wrong = {**env, "CTX_WORKSPACE": "/nowhere/at/all"}
    refused = run_ctx(wrong, "stdio", "memory")
    assert refused.returncode != 0
    assert "/nowhere/at/all" in refused.stderr
