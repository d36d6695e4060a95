"""Report the progress of a long call to its client."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

Report = Callable[[float, float | None, str | None], Awaitable[None]]


async def _discard(done: float, total: float | None, message: str | None) -> None:
    """Stand in where no client listens."""


current: ContextVar[Report] = ContextVar("ctx_progress", default=_discard)


async def report(done: float, total: float | None = None, message: str | None = None) -> None:
    """Report to the client of this call; without one nothing happens."""
    await current.get()(done, total, message)
