"""Two processes that write one repo at a real Qdrant server."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ctx_core.errors import RepoInUse, StorageFailed
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.server.store import ServerStore
from ctx_indexer.indexing import lease as leasing
from ctx_indexer.indexing.lease import ALL_REPOS, ServerLeases
from ctx_indexer.manifest.rows import RepoKey
from tests.support import lease_holder
from tests.support.processes import ROOT
from tests.support.repositories import Repository, function

SECONDS = 90
DAY_SECONDS = 86_400


@pytest.fixture
def collection() -> str:
    return f"lease-{uuid4().hex[:8]}"


@pytest.fixture
async def store(qdrant_url: str) -> Any:
    opened = ServerStore.connect(qdrant_url, timeout=10)
    yield opened
    await opened.close()


class Process:
    """A process of `lease_holder`, and the events that it prints."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", lease_holder.__name__, *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )

    def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"ended with {self.process.wait(SECONDS)}"
        event: dict[str, Any] = json.loads(line)
        return event

    def rest(self) -> list[dict[str, Any]]:
        printed, _ = self.process.communicate(timeout=SECONDS)
        return [json.loads(line) for line in printed.splitlines()]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start(qdrant_url: str, tmp_path: Path, collection: str) -> Iterator[Any]:
    started: list[Process] = []

    def begin(name: str, workspace: Path, what: str) -> Process:
        process = Process(qdrant_url, str(tmp_path / name), collection, str(workspace), what)
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.process.poll() is None:
            process.kill()


def test_the_second_writer_is_refused_by_the_name_of_the_first(start: Any, tmp_path: Path) -> None:
    mine, yours = (Repository.create(tmp_path / name) for name in ("mine", "yours"))
    mine.write("a.py", function("alpha"))
    yours.write("b.py", function("bravo"))
    first = start("one", mine.root, "follow")
    assert first.next()["event"] == "indexed"
    assert first.next()["event"] == "following"
    [refused] = start("two", yours.root, "index").rest()
    assert (refused["event"], refused["pid"]) == ("refused", first.process.pid)
    assert str(mine.root) in refused["message"]
    first.kill()  # its claim stays behind
    [indexed] = start("two", yours.root, "index").rest()
    assert indexed["event"] == "indexed"


def test_a_lease_is_held_by_one_process_at_a_time(start: Any, tmp_path: Path) -> None:
    racers = [start(f"racer{number}", tmp_path, "race") for number in range(2)]
    events = [[e for e in racer.rest() if e["event"] == "held"] for racer in racers]
    assert all(events), "each of them had it"
    spans = sorted((each["began"], each["ended"]) for held in events for each in held)
    for (_, ended), (began, _) in pairwise(spans):
        assert ended <= began


async def test_a_lease_is_shared_within_a_process_and_released(
    store: VectorStore, collection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leasing, "WAIT_SECONDS", 0.2)
    ours, theirs = ServerLeases(store), ServerLeases(store)
    key = RepoKey("server", collection, "repo")
    async with ours.hold(key, tmp_path), ours.hold(key, tmp_path):
        with pytest.raises(RepoInUse, match="is written by process"):
            async with theirs.hold(key, tmp_path):
                pass
        async with theirs.hold(replace(key, repo="other"), tmp_path):
            with pytest.raises(RepoInUse):  # of a collection that is built anew
                async with ours.hold(replace(key, repo=ALL_REPOS), tmp_path):
                    pass
    async with theirs.hold(replace(key, repo=ALL_REPOS), tmp_path):
        with pytest.raises(RepoInUse):
            async with ours.hold(key, tmp_path):
                pass
    async with ours.hold(key, tmp_path):
        pass


async def test_a_lease_of_a_clock_that_was_wrong_is_taken_over(
    store: VectorStore, collection: str, tmp_path: Path
) -> None:
    ours, theirs = ServerLeases(store), ServerLeases(store)
    key = RepoKey("server", collection, "repo")
    wrong = pytest.MonkeyPatch()
    wrong.setattr(leasing, "_expiry", lambda: time.time() + DAY_SECONDS)
    async with ours.hold(key, tmp_path):  # and never renewed, as by a process that died
        wrong.undo()
        async with theirs.hold(key, tmp_path) as other:
            other.check()


async def test_a_lease_is_renewed_and_lost_when_it_cannot_be(
    store: VectorStore, collection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leasing, "LEASE_SECONDS", 0.6)
    monkeypatch.setattr(leasing, "RENEWAL_SECONDS", 0.1)
    monkeypatch.setattr(leasing, "SKEW_SECONDS", 0.0)
    monkeypatch.setattr(leasing, "WAIT_SECONDS", 0.2)
    ours, theirs = ServerLeases(store), ServerLeases(store)
    key = RepoKey("server", collection, "repo")
    async with ours.hold(key, tmp_path) as lease:
        await asyncio.sleep(1.0)  # longer than it lasts without a renewal
        lease.check()
        with pytest.raises(RepoInUse):
            async with theirs.hold(key, tmp_path):
                pass
        monkeypatch.setattr(leasing, "RENEWAL_SECONDS", 60.0)  # as a process that was stopped
        await asyncio.sleep(1.0)
        with pytest.raises(StorageFailed, match="could not be renewed"):
            lease.check()
        async with theirs.hold(key, tmp_path) as other:
            other.check()
