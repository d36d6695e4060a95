"""Long-lived work beside the calls of a server: started again when it fails, part of readiness."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from ctx_core.errors import Unexpected

log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[None]]

FIRST_PAUSE_SECONDS = 1.0  # before work that failed starts again; doubled at each failure
MAX_PAUSE_SECONDS = 60.0
# Work that runs so long after a failure counts as sound: longer than the poll of any task.
SOUND_SECONDS = 30.0
CANCEL_AGAIN_SECONDS = 5.0  # for work to clean up; then it is cancelled once more


class BackgroundTask:
    """Work that is started again after every error, later each time.

    `failure` is the reason of the last error, until SOUND_SECONDS after a new start; else None.
    """

    def __init__(self, name: str, work: Work) -> None:
        self.name = name
        self._work = work
        self._error = ""
        self._pause = FIRST_PAUSE_SECONDS
        self._started = 0.0
        self._is_waiting = False

    @property
    def failure(self) -> str | None:
        if self._error and (self._is_waiting or not self._is_sound()):
            return f"{self.name} failed ({self._error}) and is started again; the log has details"
        return None

    async def run(self) -> None:
        """Do the work until it returns or this task is cancelled; log its errors."""
        while True:
            self._started = time.monotonic()
            try:
                await self._work()
                self._error = ""
                return
            except asyncio.CancelledError as error:
                if _is_cancelled():
                    raise
                self._note(error)  # something inside the work was cancelled, not the work
            except Exception as error:  # noqa: BLE001 - no error may end the work unnoticed
                self._note(error)
            await self._wait()

    def _note(self, error: BaseException) -> None:
        if self._is_sound():
            self._pause = FIRST_PAUSE_SECONDS
        self._error = type(error).__name__  # its text may name hosts or users: that is for the log
        log.error(
            "background task %s failed; it starts again in %g s",
            self.name,
            self._pause,
            exc_info=error,
        )

    async def _wait(self) -> None:
        self._is_waiting = True
        await asyncio.sleep(self._pause)
        self._is_waiting = False
        self._pause = min(MAX_PAUSE_SECONDS, self._pause * 2)

    def _is_sound(self) -> bool:
        return time.monotonic() - self._started >= SOUND_SECONDS


class BackgroundTasks:
    """The background tasks of a server, by name."""

    def __init__(self) -> None:
        self._running: dict[BackgroundTask, asyncio.Task[None]] = {}

    @contextlib.asynccontextmanager
    async def run(self, name: str, work: Work, *, ends: bool = False) -> AsyncIterator[None]:
        """Do the work during the block; cancel it when the block ends, and wait until it ended.

        `ends` says that the work may return before that.
        """
        background = BackgroundTask(name, work)
        running = self._until_it_ends(background) if ends else background.run()
        task = self._running[background] = asyncio.create_task(running, name=name)
        try:
            yield
        finally:
            self._running.pop(background, None)
            await _end(task)

    async def _until_it_ends(self, background: BackgroundTask) -> None:
        """Do work that may return; from then on it is no part of readiness."""
        await background.run()
        self._running.pop(background, None)

    async def check(self) -> None:
        """Check readiness: raises Unexpected, which names every task that fails or has ended."""
        failures = [
            f"{background.name} has ended" if task.done() else background.failure
            for background, task in self._running.items()
        ]
        if reasons := [reason for reason in failures if reason]:
            raise Unexpected("; ".join(reasons))


async def _end(task: "asyncio.Task[None]") -> None:
    """Cancel a task until it ends: a library inside it may take a cancellation for its own."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_AGAIN_SECONDS)
    if not task.cancelled():
        task.result()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
