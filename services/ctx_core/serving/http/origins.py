"""Checks which Host and Origin a request names: a web page must not reach a local server.

Both headers are parsed whole; what is no plain host or origin is refused, not repaired.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from http import HTTPStatus
from ipaddress import ip_address
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from ctx_core.errors import NotPermitted
from ctx_core.serving.http.responses import error_response
from ctx_core.settings.serving import LOOPBACK_NAMES

ANY = "*"
DEFAULT_PORTS = {"http": 80, "https": 443}
# A name or an IPv4 address, or an IPv6 address in brackets; then a port.
_HOST = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_.-]{1,253}))(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]{0,30})://(.{1,300})")


class Authority(NamedTuple):
    """A host without brackets, and the port where one is named."""

    host: str
    port: int | None


def parse_host(header: str) -> Authority | None:
    """Return the parts of a Host header; None for anything else."""
    match = _HOST.fullmatch(header.lower())
    if match is None:
        return None
    return Authority(match[1] or match[2], int(match[3]) if match[3] else None)


class HostOriginGuard:
    """Answers 421 to a Host that is not ours, and 403 to an Origin that may not call."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self._app = app
        self._hosts = [_without_port(host.lower()) for host in hosts]
        self._origins = [origin.lower().rstrip("/") for origin in origins]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = self._host(scope)
        if host is None:
            error = NotPermitted("This Host is not served here (CTX_ALLOWED_HOSTS).")
            await error_response(error, HTTPStatus.MISDIRECTED_REQUEST)(scope, receive, send)
        elif not all(self._may_call(each, host, scope) for each in _values(scope, b"origin")):
            error = NotPermitted("This Origin may not call (CTX_ALLOWED_ORIGINS).")
            await error_response(error, HTTPStatus.FORBIDDEN)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _host(self, scope: Scope) -> Authority | None:
        """Return the one Host of a request, if it is ours."""
        given = _values(scope, b"host")
        host = parse_host(given[0]) if len(given) == 1 else None
        return host if host and self._is_ours(host.host, scope) else None

    def _is_ours(self, host: str, scope: Scope) -> bool:
        own, _ = scope.get("server") or ("", 0)
        if host in LOOPBACK_NAMES or (host == own and not _is_unspecified(own)):
            return True
        return any(fnmatchcase(host, allowed) for allowed in self._hosts)

    def _may_call(self, origin: str, host: Authority, scope: Scope) -> bool:
        """Whether an origin is allowed, is the server's own, or is on the same loopback."""
        lower = origin.lower()
        if any(allowed == ANY or fnmatchcase(lower, allowed) for allowed in self._origins):
            return True
        match = _ORIGIN.fullmatch(lower)
        caller = parse_host(match[2]) if match else None
        if match is None or caller is None:
            return False
        if caller.host in LOOPBACK_NAMES and host.host in LOOPBACK_NAMES:
            return True
        scheme = scope.get("scheme", "http")
        own = (scheme, host.host, host.port or DEFAULT_PORTS.get(scheme))
        return (match[1], caller.host, caller.port or DEFAULT_PORTS.get(match[1])) == own


def _without_port(host: str) -> str:
    parsed = parse_host(host)
    return parsed.host if parsed else host


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _is_unspecified(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return not host
