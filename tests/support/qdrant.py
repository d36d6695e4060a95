"""A real Qdrant server for the tests: one that `QDRANT_TEST_URL` names, or one that is started."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.bench.fixtures.qdrant import (
    READY_SECONDS,
    Unobtainable,
    find_binary,
    free_port,
    is_linux_x64,
    run_server,
    unprivileged,
    wait_until_ready,
)

SHARED_MEMORY = "/dev/shm"
ROOM_BYTES = 2 * 1024**3  # a collection takes 40 MB at once, a database server 80 MB

__all__ = ["free_port", "memory", "qdrant_program", "qdrant_url", "run_server", "wait_until_ready"]


@pytest.fixture(scope="session")
def qdrant_program() -> Iterator[Path]:
    """A program that is Qdrant, runs as an unprivileged user, and may be run by anyone."""
    binary = _binary_or_skip()
    folder = Path(tempfile.mkdtemp(prefix="ctx-qdrant-program-"))
    folder.chmod(0o755)
    try:
        yield unprivileged(binary, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def qdrant_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a running server."""
    if url := os.environ.get("QDRANT_TEST_URL"):
        yield url
        return
    program: Path = request.getfixturevalue("qdrant_program")
    folder = Path(tempfile.mkdtemp(prefix="ctx-qdrant-", dir=memory()))
    folder.chmod(0o777)
    http_port, grpc_port = free_port(), free_port()
    process = run_server(program, folder, http_port, grpc_port)
    try:
        wait_until_ready(f"http://127.0.0.1:{http_port}", process, folder)
        yield f"http://127.0.0.1:{http_port}"
    finally:
        process.terminate()
        process.wait(timeout=READY_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def memory() -> str | None:
    """The parent for folders that need not survive: in memory, where no test waits for a disk."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        return None
    return SHARED_MEMORY if shutil.disk_usage(SHARED_MEMORY).free > ROOM_BYTES else None


def _binary_or_skip() -> Path:
    """Where it must be possible, in CI, failing to have it is an error and not a skip."""
    try:
        return find_binary()
    except Unobtainable as reason:
        must = os.environ.get("CI") == "true" and is_linux_x64() and shutil.which("npm")
        if must:
            raise
        pytest.skip(f"no Qdrant server: {reason}")
