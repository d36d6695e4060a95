"""Calls that hang in a thread: they end at their deadline, others go on, the process ends."""

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastmcp import Client

from ctx_core.blocking import GIT
from ctx_core.serving.stopping import CLOSE_SECONDS
from tests.support.processes import Server, environment, running
from tests.support.repositories import Repository

DEADLINE, GRACE = 3, 2  # seconds
STUCK = 2 * GIT._width  # more calls than threads
PATIENCE = 30.0  # a loaded machine


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """While this file exists, every git that the server starts sleeps."""
    return tmp_path / "git-sleeps"


@pytest.fixture
def server(tmp_path: Path, flag: Path) -> Iterator[Server]:
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "git"
    script.write_text(
        f'#!/bin/sh\n[ -e {flag} ] && exec sleep 314159\nexec {shutil.which("git")} "$@"\n'
    )
    script.chmod(0o755)
    project = Repository.create(tmp_path / "project")
    for number in range(STUCK):
        (project.root / str(number) / ".git").mkdir(parents=True)
    env = environment(
        tmp_path / "data",
        PATH=f"{programs}:{os.environ['PATH']}",
        CTX_WORKSPACE=str(project.root),
        CTX_OPERATION_TIMEOUT_SECONDS=str(DEADLINE),
        CTX_SHUTDOWN_GRACE_SECONDS=str(GRACE),
    )
    with running(env) as started:
        yield started


async def call(url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async with Client(url, timeout=PATIENCE + DEADLINE) as client:
        answer = await client.call_tool(tool, arguments, raise_on_error=False)
    body: dict[str, Any] = answer.structured_content or {}
    return body


def sleeping() -> int:
    listed = subprocess.run(["pgrep", "-fc", "sleep 314159"], capture_output=True, check=False)
    return int(listed.stdout or 0)


async def test_stuck_calls_neither_starve_others_nor_keep_the_process(
    server: Server, flag: Path
) -> None:
    await asyncio.to_thread(flag.touch)
    started = time.monotonic()
    stuck = [
        asyncio.create_task(
            call(server.memory_http, "context_list_conventions", project=str(number))
        )
        for number in range(STUCK)
    ]
    await asyncio.sleep(1.0)
    stored = await call(server.memory_http, "store", information="stuck calls do not hold me up")
    assert stored["ok"], stored
    found = await call(server.memory_http, "find", query="stuck calls")
    assert found["results"], found
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        assert (await http.get(f"{server.indexer_health}/readyz")).status_code == 200
    answers = await asyncio.gather(*stuck)
    assert {answer["error_code"] for answer in answers} == {"TIMEOUT_ERROR"}
    assert time.monotonic() - started < DEADLINE + PATIENCE
    assert sleeping()

    started = time.monotonic()
    assert server.stop(signal.SIGTERM) == 0
    assert time.monotonic() - started < GRACE + CLOSE_SECONDS
    assert not sleeping()
