"""Who is calling, as a tool may know it without knowing the transport."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Caller:
    """`client` names the peer for rate limits. `connection` outlives one call, where there is one:
    the stateless protocol (2026-07-28) has none."""

    client: str = "local"
    connection: str | None = None


LOCAL = Caller()
current: ContextVar[Caller] = ContextVar("ctx_caller", default=LOCAL)
