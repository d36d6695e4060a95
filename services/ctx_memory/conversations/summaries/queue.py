"""The conversations that wait for the background worker of summaries."""

import asyncio
import contextlib
from collections.abc import Iterable


class SummaryQueue:
    """Conversations by the work that waits for them, each once, the first asked for first."""

    def __init__(self) -> None:
        self.grown: dict[str, None] = {}  # need a summary of their own
        self.moved: dict[str, None] = {}  # need new summaries of their parents
        self.changed: dict[str, None] = {}  # have a new summary, and need new links
        self._wakeup = asyncio.Event()

    def conversation_grew(self, id_: str) -> None:
        """Have a conversation summarised."""
        self.grown[id_] = None
        self._wakeup.set()

    def hierarchy_changed(self, child: str) -> None:
        """Have the parents of a conversation summarised."""
        self.moved[child] = None
        self._wakeup.set()

    def summary_changed(self, id_: str) -> None:
        """Have similar contexts linked after a summary that a caller asked for."""
        self.changed[id_] = None
        self._wakeup.set()

    def add_grown(self, ids: Iterable[str]) -> None:
        """Have conversations summarised in the round of the worker that runs."""
        self.grown.update(dict.fromkeys(ids))

    def begin(self) -> None:
        """Begin a round: work that comes from here on ends the next pause."""
        self._wakeup.clear()

    async def pause(self, seconds: float) -> None:
        """Wait for work, at most so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wakeup.wait()
