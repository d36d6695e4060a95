"""Closing the memory server leaves alone what else the process does."""

import asyncio
import time
from pathlib import Path

import pytest

from ctx_core.blocking import GIT
from ctx_core.engine.engine import open_engines
from ctx_core.git.run import run_git
from ctx_core.settings import Settings
from ctx_memory.service import open_memory
from tests.support.repositories import Repository

PATIENCE = 30.0


def _wait_for(note: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not note.exists():
        assert time.monotonic() < until
        time.sleep(0.02)


async def test_git_of_others_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repository.create(tmp_path / "project")
    begun, go_on = tmp_path / "begun", tmp_path / "go-on"
    waiting = f"touch {begun}; while [ ! -e {go_on} ]; do sleep 0.05; done; exit 7 #"
    monkeypatch.setenv("GIT_SSH_COMMAND", waiting)
    repo.git("remote", "add", "origin", "ssh://127.0.0.1:1/x")
    settings = Settings(data_dir=tmp_path / "data", workspace=repo.root)
    async with open_engines(settings) as engines, open_memory(settings, engines.memory):
        fetch = asyncio.create_task(
            GIT.run(run_git, repo.root, "fetch", "origin", transport=True, seconds=60.0)
        )
        await GIT.run(_wait_for, begun)
    await asyncio.sleep(0.2)
    assert not fetch.done()
    go_on.touch()
    with pytest.raises(Exception, match="git fetch failed"):
        await fetch
