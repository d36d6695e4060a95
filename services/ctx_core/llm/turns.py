"""Turns at a model: one generation at a time, and a bounded number that wait for theirs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from ctx_core.errors import DecoderFailed

MAX_WAITING = 8  # more would wait longer than any caller does


class Turns:
    """Gives callers their turn, in their order."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting = 0
        self._lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it until the block ends.

        Raises DecoderFailed where too many wait already.
        """
        if self._waiting >= MAX_WAITING:
            raise DecoderFailed(
                f"{self._name} is busy and {self._waiting} texts wait for it: ask again later"
            )
        self._waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._lock.release()
