"""The caller of a tool, independent of the transport."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Caller:
    """The client for rate limits, the id of a connection that outlives one call, and the name
    that the client gives itself.

    The stateless protocol (2026-07-28) has no connection.
    """

    client: str = "local"
    connection: str | None = None
    name: str | None = None


LOCAL = Caller()
current: ContextVar[Caller] = ContextVar("ctx_caller", default=LOCAL)
