"""How far a long call is, told to a client that asked to know."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

Report = Callable[[float, float | None, str | None], Awaitable[None]]


async def _nobody(done: float, total: float | None, message: str | None) -> None:
    """Outside a call, and for a client that did not ask."""


current: ContextVar[Report] = ContextVar("ctx_progress", default=_nobody)


async def report(done: float, total: float | None = None, message: str | None = None) -> None:
    """Tell the client of this call; does nothing where there is none."""
    await current.get()(done, total, message)
