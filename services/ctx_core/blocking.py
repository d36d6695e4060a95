"""Threads for work that blocks: files, git, computing.

Each kind has threads of its own. A call that is cancelled, as at its deadline, leaves its thread
behind, and another takes the thread's place; threads never hold up the end of the process.
"""

import asyncio
import contextlib
import contextvars
import functools
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from os import cpu_count, register_at_fork
from typing import Any, ParamSpec, TypeVar

from ctx_core.errors import StorageFailed

POLL_SECONDS = 0.01
MAX_ABANDONED = 64  # threads of one kind that still hang in calls which were given up

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(eq=False)
class _Job:
    """One call, the loop that waits for it, and its result or error."""

    work: Callable[[], object]
    loop: asyncio.AbstractEventLoop
    result: "asyncio.Future[Any]"
    is_abandoned: bool = field(default=False)

    def finish(self, outcome: object, error: BaseException | None) -> None:
        if self.result.done():
            return
        if error is None:
            self.result.set_result(outcome)
        else:
            self.result.set_exception(error)


class BlockingPool:
    """At most `width` threads that run calls in turn; threads of calls that were given up come on
    top."""

    def __init__(self, name: str, width: int) -> None:
        self.name = name
        self._width = width
        self._reset()
        register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        """Begin without threads, as in a forked process: it has none of its parent's."""
        self._waiting: deque[_Job] = deque()
        self._condition = threading.Condition()
        self._threads = self._idle = self._abandoned = self._started = 0

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function in a thread; when this is cancelled, the thread is left behind.

        Raises the errors of the function, and StorageFailed where too many threads hang.
        """
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        call = functools.partial(context.run, functools.partial(work, *args, **kwargs))
        job = _Job(call, loop, loop.create_future())
        self._submit(job)
        try:
            outcome: T = await job.result
        except asyncio.CancelledError:
            self._abandon(job)
            raise
        return outcome

    def _submit(self, job: _Job) -> None:
        with self._condition:
            if self._abandoned >= MAX_ABANDONED:
                raise StorageFailed(
                    f"{self._abandoned} earlier calls still hang ({self.name}): a pipe or a lost "
                    "drive in a workspace? Remove it, or restart the server."
                )
            self._waiting.append(job)
            if self._idle < len(self._waiting) and self._threads < self._width:
                self._start_thread()
            self._condition.notify()

    def _abandon(self, job: _Job) -> None:
        """Forget a call that waits; replace the thread of one that runs."""
        with self._condition:
            if job in self._waiting:
                self._waiting.remove(job)
            elif not job.is_abandoned:
                job.is_abandoned = True
                self._abandoned += 1
                self._threads -= 1
                if self._waiting:
                    self._start_thread()

    def _start_thread(self) -> None:
        self._threads += 1
        self._started += 1
        name = f"{self.name}-{self._started}"
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self) -> None:
        while True:
            job = self._next()
            outcome, error = None, None
            try:
                outcome = job.work()
            except BaseException as raised:  # noqa: BLE001 - it belongs to whoever waits
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop is closed
                job.loop.call_soon_threadsafe(job.finish, outcome, error)
            with self._condition:
                if job.is_abandoned:
                    self._abandoned -= 1
                    return
                job.is_abandoned = True  # it ended: a cancellation from now on leaves no thread

    def _next(self) -> _Job:
        with self._condition:
            self._idle += 1
            while not self._waiting:
                self._condition.wait()
            self._idle -= 1
            return self._waiting.popleft()

    def is_busy(self) -> bool:
        """Whether a call runs or waits, also one that was given up."""
        with self._condition:
            return bool(self._waiting or self._abandoned or self._threads > self._idle)


def wait_until_idle(seconds: float) -> None:
    """Give the calls that still run a moment to end. Blocks at most so long."""
    until = time.monotonic() + seconds
    while any(pool.is_busy() for pool in (DISK, GIT, COMPUTE)) and time.monotonic() < until:
        time.sleep(POLL_SECONDS)


# Waiting for a disk or a child needs no processor: many may wait.
DISK = BlockingPool("disk", 32)
GIT = BlockingPool("git", 32)
# Embedding, reranking, matching: as many as compute side by side, and some that wait for a lock.
COMPUTE = BlockingPool("compute", (cpu_count() or 1) + 4)
