"""The caller of a tool, independent of the transport."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any

from ctx_core.access.grant import NOTHING, Grant

LOCAL_NAME = "local"
DIGEST_LENGTH = 16  # enough of a token's hash to tell clients apart
NETWORK_BITS = 64  # of an IPv6 address: one client has all addresses of its network
SCOPE_KEY = "ctx.client"  # where the guard leaves a client's name for the calls
GRANT_KEY = "ctx.grant"  # and what its token grants


@dataclass(frozen=True)
class Caller:
    """The client for rate limits, the id of a connection that outlives one call, and the name
    that the client gives itself.

    The stateless protocol (2026-07-28) has no connection. `is_owner` is true of the command line
    of the user who runs the server.
    """

    client: str = LOCAL_NAME
    connection: str | None = None
    name: str | None = None
    is_owner: bool = False


LOCAL = Caller()
current: ContextVar[Caller] = ContextVar("ctx_caller", default=LOCAL)


def digest_name(digest: str) -> str:
    """Return what tells a client with a token from others: the token's hash."""
    return digest[:DIGEST_LENGTH]


def address_name(host: str | None) -> str:
    """Return what tells a client without a token from others: its address."""
    try:
        address = ip_address(host or "")
    except ValueError:
        return host or LOCAL_NAME
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        network = int(address) >> (128 - NETWORK_BITS) << (128 - NETWORK_BITS)
        return f"{IPv6Address(network)}/{NETWORK_BITS}"
    return str(getattr(address, "ipv4_mapped", None) or address)


def client_of(scope: Mapping[str, Any]) -> str:
    """Return the client's name that the guard left in a request's scope."""
    return str(scope.get(SCOPE_KEY, LOCAL_NAME))


def grant_of(scope: Mapping[str, Any]) -> Grant:
    """Return what the guard found that a request's token grants; without a guard nothing."""
    grant = scope.get(GRANT_KEY)
    return grant if isinstance(grant, Grant) else NOTHING
