"""Writes points of new entries soon after their transaction, without making the caller wait."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from ctx_core.background import BackgroundTasks
from ctx_core.errors import CtxError
from ctx_memory.projection.outbox import Outbox
from ctx_memory.projection.wait import MAX_WAIT_SECONDS

log = logging.getLogger(__name__)

OnDrained = Callable[[float], Awaitable[None]]


class BackgroundDrain:
    """Drains the outbox when asked; `on_drained` gets the seconds that each drain took.

    What fails is tried again by the outbox itself.
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
        """Wait until what was asked for is written; return the reason where it is not."""
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
