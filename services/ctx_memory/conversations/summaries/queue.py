"""The conversations that wait for the background worker of summaries."""

import asyncio
import contextlib
from collections.abc import Iterable


class SummaryQueue:
    """The conversations that wait for each kind of work, each once, in the order of requests."""

    def __init__(self) -> None:
        self.grown: dict[str, None] = {}  # conversations that need a summary
        self.moved: dict[str, None] = {}  # conversations whose parents need a new summary
        self.changed: dict[str, None] = {}  # conversations with a new summary, which need new links
        self._wakeup = asyncio.Event()

    def conversation_grew(self, id_: str) -> None:
        """Ask the worker for the summary of a conversation."""
        self.grown[id_] = None
        self._wakeup.set()

    def hierarchy_changed(self, child: str) -> None:
        """Ask the worker for the summaries of a conversation's parents."""
        self.moved[child] = None
        self._wakeup.set()

    def summary_changed(self, id_: str) -> None:
        """Ask the worker for links to similar contexts, after a summary that a caller asked for."""
        self.changed[id_] = None
        self._wakeup.set()

    def add_grown(self, ids: Iterable[str]) -> None:
        """Add conversations to be summarised in the round that the worker is in."""
        self.grown.update(dict.fromkeys(ids))

    def begin(self) -> None:
        """Begin a round: work that is asked for from here on ends the next pause."""
        self._wakeup.clear()

    async def pause(self, seconds: float) -> None:
        """Wait until work is asked for, or until the seconds have passed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wakeup.wait()
