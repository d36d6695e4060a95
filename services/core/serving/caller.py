"""The caller of a tool, independent of the transport."""

from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256

LOCAL_NAME = "local"
DIGEST_LENGTH = 16  # enough of a token's hash to tell clients apart


@dataclass(frozen=True)
class Caller:
    """The client for rate limits, the id of a connection that outlives one call, and the name
    that the client gives itself.

    The stateless protocol (2026-07-28) has no connection.
    """

    client: str = LOCAL_NAME
    connection: str | None = None
    name: str | None = None


LOCAL = Caller()
current: ContextVar[Caller] = ContextVar("ctx_caller", default=LOCAL)


def client_name(authorization: str, host: str | None) -> str:
    """Return what tells an HTTP client from others: its token's hash, else its address."""
    if authorization:
        return sha256(authorization.encode()).hexdigest()[:DIGEST_LENGTH]
    return host or LOCAL_NAME
