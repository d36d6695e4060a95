"""One writer at a time in a project, among all processes and tasks."""

import asyncio
import contextlib
import hashlib
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from filelock import FileLock, Timeout

from ctx_core.errors import StorageFailed

PATIENCE_SECONDS = 15.0  # a writer needs milliseconds; a merge of a large folder a second or two
POLL_SECONDS = 0.02


class ProjectLock:
    """A lock file outside the work tree, where neither git nor people meet it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tasks = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def held(self, seconds: float = PATIENCE_SECONDS) -> AsyncIterator[None]:
        """Hold the lock; raises StorageFailed if another writer does not let go in time."""
        deadline = time.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                await self._tasks.acquire()
        except TimeoutError:
            raise self._busy() from None
        try:
            lock = await self._take(deadline)
            try:
                yield
            finally:
                lock.release()
        finally:
            self._tasks.release()

    async def _take(self, deadline: float) -> FileLock:
        # Polled by the event loop: a thread that waits could take the lock after we gave up.
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._path, thread_local=False)
        while True:
            try:
                lock.acquire(blocking=False)
            except Timeout:
                if time.monotonic() > deadline:
                    raise self._busy() from None
                await asyncio.sleep(POLL_SECONDS)
            else:
                return lock

    @staticmethod
    def _busy() -> StorageFailed:
        return StorageFailed("Another process is writing the project's knowledge; try again.")


def lock_path(root: Path, git_dir: Path | None) -> Path:
    """Where the lock of a project lies: with git's own files, else in the temporary folder."""
    if git_dir is not None:
        return git_dir / "context-teleport" / "lock"
    digest = hashlib.sha256(str(root).encode()).hexdigest()[:32]
    return Path(tempfile.gettempdir()) / f"ctx-knowledge-{digest}.lock"
