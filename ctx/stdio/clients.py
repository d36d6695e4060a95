"""Starts the servers for clients over stdio, and ends them when no such client is left.

Each client holds a lock that tells that it is there.
"""

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from ctx.background import START_SECONDS, failed_start, start, wait_until_running
from ctx.servers import is_running
from ctx_core.blocking import DISK
from ctx_core.environment.connection import Connection, ServiceName
from ctx_core.errors import StorageFailed

CLIENTS_FILE = "stdio-clients.lock"
START_FILE = "stdio-start.lock"
NO_WORKSPACE = "no-workspace"  # the empty folder that is served where a client starts at home
POLL_SECONDS = 0.1
WATCH_SECONDS = 5.0  # between two looks for clients; one that starts again finds the servers


@contextlib.contextmanager
def counted_client(data_dir: Path) -> Iterator[None]:
    """Count this process as a client during the block."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / CLIENTS_FILE).open("a") as file:
        _lock(file.fileno(), shared=True)
        yield


def has_clients(data_dir: Path) -> bool:
    """Whether a client is left; always where locks cannot tell. Blocks for a moment."""
    if sys.platform == "win32":  # the servers run until `ctx down`
        return True
    try:
        with (data_dir / CLIENTS_FILE).open("a") as file:
            return not _lock(file.fileno(), shared=False)
    except OSError:
        return True


@contextlib.asynccontextmanager
async def stopped_with_clients(data_dir: Path) -> AsyncIterator[None]:
    """Stop this process, as a signal does, when no client is left."""

    async def watch() -> None:
        while await DISK.run(has_clients, data_dir):  # noqa: ASYNC110 - a lock sends no event
            await asyncio.sleep(WATCH_SECONDS)
        signal.raise_signal(signal.SIGTERM)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()


async def ensure_running(connection: Connection, service: ServiceName) -> None:
    """Start both servers unless they run; one of several callers does it.

    Raises StorageFailed, with the end of the log, where they do not start.
    """
    if await is_running(connection, service):
        return
    with (connection.data_dir / START_FILE).open("a") as file:
        if await _runs_while_waiting(connection, service, file.fileno()):
            return
        folder = _folder(connection.data_dir)
        process = start(["up", "--json", "--for-stdio"], connection.data_dir, folder)
        if not await wait_until_running(connection, process):
            if process.poll() is not None:
                raise failed_start(process, connection.data_dir)
            raise StorageFailed(f"The servers do not answer after {START_SECONDS:g} s: ctx logs")


async def _runs_while_waiting(connection: Connection, service: ServiceName, lock: int) -> bool:
    """Wait for the right to start the servers; return whether somebody else did meanwhile."""
    until = time.monotonic() + START_SECONDS
    while not _lock(lock, shared=False) and time.monotonic() < until:
        if await is_running(connection, service):
            return True
        await asyncio.sleep(POLL_SECONDS)
    return await is_running(connection, service)


def _folder(data_dir: Path) -> Path:
    """Return the folder to serve: an empty one where a client starts at home or above it."""
    here, home = Path.cwd(), Path.home().resolve()
    if here not in (home, *home.parents):
        return here
    empty = data_dir / NO_WORKSPACE
    empty.mkdir(parents=True, exist_ok=True)
    return empty


def _lock(file: int, *, shared: bool) -> bool:
    """Lock a file without waiting; return whether nobody else has it locked."""
    if sys.platform == "win32":  # which has no such locks
        return True
    import fcntl

    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
