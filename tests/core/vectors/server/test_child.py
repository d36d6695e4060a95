"""QDRANT_BIN: a real server binary as our child."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ctx_core.errors import FolderInUse, StorageFailed
from ctx_core.vectors.factory import CHILD_FOLDER, open_store
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.server import child
from ctx_core.vectors.server.child import LOCK_FILE, PID_FILE, QdrantChild
from tests.support.qdrant import memory
from tests.support.vectors.samples import POINTS, SPEC

PARENT = """
import asyncio, sys
from pathlib import Path
from ctx_core.vectors.factory import open_store
from tests.support.vectors.samples import POINTS, SPEC

async def main():
    store = await open_store(url=None, api_key=None, ca_cert=None, binary=Path(sys.argv[1]),
                             folder=Path(sys.argv[2]), timeout=10)
    await store.ensure_collection("c", SPEC)
    await store.upsert("c", POINTS)
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder that the unprivileged server may write to."""
    folder = Path(tempfile.mkdtemp(prefix="ctx-child-", dir=memory()))
    (folder / CHILD_FOLDER).mkdir()
    for each in (folder, folder / CHILD_FOLDER):
        each.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


async def opened(program: Path, folder: Path) -> VectorStore:
    return await open_store(
        url=None, api_key=None, ca_cert=None, binary=program, folder=folder, timeout=10.0
    )


def parent(program: Path, folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(program), str(folder)],
        cwd=Path(__file__).parents[4],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def child_pid(folder: Path) -> int:
    return int((folder / CHILD_FOLDER / PID_FILE).read_text())


async def test_it_serves_keeps_its_points_and_stops(qdrant_program: Path, data: Path) -> None:
    store = await opened(qdrant_program, data)
    assert store.engine.startswith("server (http://127.0.0.1:")
    await store.ensure_collection("c", SPEC)
    await store.upsert("c", POINTS)
    pid = child_pid(data)
    assert is_running(pid)
    with pytest.raises(FolderInUse, match=str(os.getpid())):
        await opened(qdrant_program, data)
    await store.close()
    assert not is_running(pid)
    again = await opened(qdrant_program, data)
    assert await again.count("c") == 4
    await again.close()


async def test_requests_without_the_key_are_refused(qdrant_program: Path, data: Path) -> None:
    server = await QdrantChild.start(qdrant_program, data / CHILD_FOLDER)
    try:
        async with httpx.AsyncClient(trust_env=False) as http:
            assert (await http.get(f"{server.url}/collections")).status_code == 401
            assert (await http.get(f"{server.url}/telemetry")).status_code == 401
            answer = await http.get(
                f"{server.url}/collections", headers={"api-key": server.api_key}
            )
            assert answer.status_code == 200
    finally:
        await server.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
async def test_the_child_dies_with_its_parent(qdrant_program: Path, data: Path) -> None:
    process = parent(qdrant_program, data)
    lock = data / CHILD_FOLDER / LOCK_FILE
    assert child._is_locked(lock)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    # By its lock, not its process id: in a container an orphan may never be reaped.
    while child._is_locked(lock) and time.monotonic() < deadline:
        time.sleep(0.05)  # noqa: ASYNC251 - nothing else is to run
    outlived = child._is_locked(lock)
    if outlived:
        os.kill(child_pid(data), signal.SIGKILL)
    assert not outlived


async def test_a_killed_parent_leaves_a_usable_folder(qdrant_program: Path, data: Path) -> None:
    process = parent(qdrant_program, data)
    process.kill()
    process.communicate()
    store = await opened(qdrant_program, data)
    assert await store.count("c") == 4
    await store.close()


async def test_a_child_that_outlived_its_parent_is_stopped_first(
    qdrant_program: Path, data: Path
) -> None:
    """As on a system without the parent death signal: the child still runs."""
    orphan = await QdrantChild.start(qdrant_program, data / CHILD_FOLDER)
    assert child._is_locked(data / CHILD_FOLDER / LOCK_FILE)
    store = await opened(qdrant_program, data)
    assert orphan._process.wait(timeout=1) is not None
    await store.ping()
    await store.close()
    assert not child._is_locked(data / CHILD_FOLDER / LOCK_FILE)


async def test_a_child_that_died_is_an_error_that_names_its_log(
    qdrant_program: Path, data: Path
) -> None:
    store = await opened(qdrant_program, data)
    os.kill(child_pid(data), signal.SIGKILL)
    with pytest.raises(StorageFailed, match=r"child process of QDRANT_BIN has ended.*qdrant\.log"):
        for _ in range(100):
            await store.ping()
    await store.close()
    await (await opened(qdrant_program, data)).close()


async def test_a_program_that_fails_is_quoted(data: Path) -> None:
    program = data / "broken"
    program.write_text("#!/bin/sh\necho something is amiss\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(StorageFailed, match=r"code 3(.|\n)*something is amiss"):
        await opened(program, data)
    with pytest.raises(StorageFailed, match="code 3"):  # and the folder was given up
        await opened(program, data)


async def test_a_program_that_is_never_ready_is_stopped(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "READY_SECONDS", 0.5)
    program = data / "slow"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    with pytest.raises(StorageFailed, match=r"not ready after 0\.5 s"):
        await opened(program, data)
    assert not is_running(child_pid(data))


async def test_a_path_that_is_no_program_is_refused(data: Path) -> None:
    for wrong in (data / "missing", data):
        with pytest.raises(StorageFailed, match="QDRANT_BIN"):
            await opened(wrong, data)
