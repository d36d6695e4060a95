"""Drains of the outbox: a caller waits for one for a moment, or has one in the background."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial

from ctx_core.background import BackgroundTasks
from ctx_core.errors import CtxError
from ctx_memory.projection.outbox import Outbox, reason

log = logging.getLogger(__name__)

OnDrained = Callable[[float], Awaitable[None]]

MAX_WAIT_SECONDS = 2.0  # longer than Qdrant takes, short enough for a caller to wait


async def wait_until_searchable(outbox: Outbox, uuids: Sequence[str] | None) -> str | None:
    """Wait until the points of these entries are written, or all that are due where None.

    Returns the reason where they come later: the entries are stored in SQL either way.
    """
    drain = asyncio.ensure_future(outbox.drain(uuids))
    try:
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            await asyncio.shield(drain)
    except TimeoutError:
        outbox.late_drains += 1  # until it ends searches ask SQL for words
        drain.add_done_callback(partial(_end_late, outbox))
        return f"vectors take longer than {MAX_WAIT_SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - whatever it is, the entries are stored
        _log(error)
        return reason(error)
    return next((outbox.problems[uuid] for uuid in uuids or () if uuid in outbox.problems), None)


def _end_late(outbox: Outbox, drain: "asyncio.Future[None]") -> None:
    outbox.late_drains -= 1
    if not drain.cancelled() and (error := drain.exception()) is not None:
        _log(error)


def _log(error: BaseException) -> None:
    """Log why vectors were not written, with the place where that is not foreseen."""
    unexpected = None if isinstance(error, CtxError) else error
    log.warning("vectors were not written: %s", error, exc_info=unexpected)


class BackgroundDrain:
    """Drains the outbox when asked; `on_drained` gets the seconds that each drain took.

    The outbox itself retries a drain that failed.
    """

    def __init__(self, outbox: Outbox, on_drained: OnDrained) -> None:
        self._outbox = outbox
        self._on_drained = on_drained
        self._wakeup = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def soon(self) -> None:
        """Have the outbox drained."""
        self._idle.clear()
        self._wakeup.set()

    async def wait(self) -> str | None:
        """Wait until the drains asked for are done; return the reason where they take too long."""
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await self._idle.wait()
        except TimeoutError:
            return f"vectors are more than {MAX_WAIT_SECONDS:g} s behind"
        return None

    @contextlib.asynccontextmanager
    async def running(self, tasks: BackgroundTasks) -> AsyncIterator[None]:
        """Work until the block ends."""
        async with tasks.run("drain of the outbox", self._work):
            yield

    async def _work(self) -> None:
        while True:
            await self._wakeup.wait()
            self._wakeup.clear()
            started = time.perf_counter()
            try:
                await self._outbox.drain()
                await self._on_drained(time.perf_counter() - started)
            except CtxError as error:
                log.warning("vectors were not written: %s", error)
            if not self._wakeup.is_set():
                self._idle.set()
