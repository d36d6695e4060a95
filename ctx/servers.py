"""Asking running servers: how they are, over their health ports, and for a tool."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from services.core.settings import HEALTH_PORT_OFFSET, Settings, url_host

TIMEOUT_SECONDS = 5.0  # above the servers' own limit for one check
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True)
class Answer:
    """What one health port said: ready, not ready with reasons, or nothing."""

    service: str
    url: str
    running: bool
    ready: bool
    checks: dict[str, str] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)
    error: str = ""


def ask(service: str, port: int, settings: Settings) -> Answer:
    """The answer of the server that should listen on this port."""
    host = WILDCARDS.get(settings.host, settings.host)
    url = f"http://{url_host(host)}:{port + HEALTH_PORT_OFFSET}/readyz"
    try:
        body, code = _get(url)
    except (URLError, OSError, ValueError) as error:
        return Answer(service, url, running=False, ready=False, error=str(error))
    if body.get("service") != service:
        stranger = f"something else answers at {url}"
        return Answer(service, url, running=False, ready=False, error=stranger)
    return Answer(
        service,
        url,
        running=True,
        ready=code == 200,
        checks=body.get("checks", {}),
        advice=body.get("advice", []),
    )


async def call_indexer(
    settings: Settings, tool: str, arguments: dict[str, Any], **options: Any
) -> dict[str, Any]:
    """A tool of the running indexer; `options` go to the MCP client."""
    return await _call(settings, settings.indexer_http_port, tool, arguments, **options)


async def call_memory(
    settings: Settings, tool: str, arguments: dict[str, Any], **options: Any
) -> dict[str, Any]:
    """A tool of the running memory server."""
    return await _call(settings, settings.memory_http_port, tool, arguments, **options)


async def _call(
    settings: Settings, port: int, tool: str, arguments: dict[str, Any], **options: Any
) -> dict[str, Any]:
    from services.core.serving.mcp.client import call_tool  # noqa: PLC0415 - slow to import

    host = WILDCARDS.get(settings.host, settings.host)
    url = f"http://{url_host(host)}:{port}/mcp"
    return await call_tool(url, tool, arguments, settings.own_token, **options)


def ask_all(settings: Settings) -> list[Answer]:
    """Both servers, each by its HTTP port."""
    return [
        ask("memory", settings.memory_http_port, settings),
        ask("indexer", settings.indexer_http_port, settings),
    ]


def _get(url: str) -> tuple[dict[str, Any], int]:
    try:
        with urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            return _body(response.read()), response.status
    except HTTPError as refusal:
        with refusal:
            return _body(refusal.read()), refusal.code


def _body(raw: bytes) -> dict[str, Any]:
    decoded = json.loads(raw)
    return decoded if isinstance(decoded, dict) else {}
