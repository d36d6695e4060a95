"""What a follower depends on goes away: the system's watches, and Qdrant."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.indexing.lease import ServerLeases
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.watch import follower as following
from ctx_indexer.watch.watch import Watch
from tests.indexer.conftest import REPO, Bench
from tests.indexer.watch.conftest import Watching
from tests.support.fakes import Counting
from tests.support.processes import ROOT, environment
from tests.support.qdrant import free_port, memory, run_server, wait_until_ready
from tests.support.repositories import Repository, function

LIMIT = "/proc/sys/user/max_inotify_watches"  # of a user namespace
WATCHES = 3


def has_namespaces() -> bool:
    if not shutil.which("unshare"):
        return False
    tried = ["unshare", "--user", "--map-root-user", "sh", "-c", f"echo {WATCHES} > {LIMIT}"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not has_namespaces(), reason="no user namespaces to limit inotify in")
def test_watches_that_run_out_are_said_and_folders_polled(tmp_path: Path) -> None:
    project = Repository.create(tmp_path / "project")
    for number in range(8):
        project.write(f"f{number}/a.py", function(f"first{number}"))
    script = f"echo {WATCHES} > {LIMIT}; exec {sys.executable} -m ctx watch {project.root} --json"
    process = subprocess.Popen(
        ["unshare", "--user", "--map-root-user", "sh", "-c", script],
        cwd=ROOT,
        env=environment(tmp_path / "data"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        events = (json.loads(line) for line in process.stdout)
        state = next(event for event in events if event["event"] == "state")
        assert state["state"] == "polling"
        assert "allows no more watches" in state["reason"]
        assert state["watched_folders"] <= WATCHES
        project.write("f7/a.py", function("second7"))  # in a folder without a watch
        update = next(event for event in events if event["event"] == "update")
        assert update["changed"] == 1
    finally:
        process.kill()
        _, complaint = process.communicate()
    assert "is not followed by events" in complaint


async def test_what_changed_while_qdrant_was_away_is_caught_up(
    qdrant_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "FIRST_RETRY_SECONDS", 0.2)
    monkeypatch.setattr(following, "MOST_RETRY_SECONDS", 0.5)
    repository = Repository.create(tmp_path / "sample")
    repository.write("a.py", function("alpha"))
    repository.write("b.py", function("bravo"))
    ports = (free_port(), free_port())
    storage = Path(tempfile.mkdtemp(prefix="ctx-qdrant-", dir=memory()))
    os.chmod(storage, 0o777)  # noqa: PTH101 - for the user that the server runs as
    url = f"http://127.0.0.1:{ports[0]}"
    process = run_server(qdrant_program, storage, *ports)
    settings = Settings(data_dir=tmp_path / "data", qdrant_url=url, qdrant_timeout_seconds=5)
    try:
        wait_until_ready(url, process, storage)
        async with (
            open_engine(settings, settings.code_model) as engine,
            followed(engine, settings, repository) as watching,
        ):
            process.kill()
            process.wait()
            repository.write("a.py", function("changed"))
            repository.remove("b.py")
            repository.write("c/d.py", function("delta"))
            await watching.until_state("waiting")
            assert "Qdrant" in watching.status.reason
            assert watching.status.lag_seconds > 0
            assert watching.watch.gauges()["watch_waiting_workspaces"]() == 1
            process = run_server(qdrant_program, storage, *ports)
            wait_until_ready(url, process, storage)
            await watching.until_texts({"a.py": "changed", "c/d.py": "delta"})
            await watching.until_state("following")
            assert watching.status.lag_seconds == 0
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(storage, ignore_errors=True)


@contextlib.asynccontextmanager
async def followed(
    engine: Engine, settings: Settings, repository: Repository
) -> AsyncIterator[Watching]:
    """Index a repository at a Qdrant server and follow it, with its lease."""
    manifest = Manifest(settings.index_state_path)
    indexer = Indexer(
        engine.vectors,
        engine.embedder,
        manifest,
        store_key="test",
        leases=ServerLeases(engine.vectors),
    )
    watch = Watch(indexer)
    work = asyncio.create_task(watch.run(known=False))
    await asyncio.sleep(0)
    await indexer.index(repository.root, collection=settings.collection_name, repo=REPO)
    bench = Bench(indexer, engine, manifest, Counting(), settings.collection_name)
    watching = Watching(bench, repository, watch)
    try:
        await watching.until_state("following")
        yield watching
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        manifest.close()
