"""Requests that pretend to come from elsewhere, and clients that only keep a server busy."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx

from ctx_core.environment.ports import HEALTH_OFFSET
from scripts.bench.attacks.attack import Outcome, ServerAttack, Target

FORBIDDEN = {400, 403, 421}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "attack", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}
LARGE_HEADER = 64 * 1024
CLOSE_SECONDS = 30.0  # an idle connection is closed after 10
IDLE_CONNECTIONS = 700
SESSIONS = 1_200


async def disguises(target: Target, outcome: Outcome) -> None:
    """Hosts and origins that only look like ours."""
    for url in (target.server.memory_http, target.server.indexer_http):
        address = urlsplit(url).netloc
        headers = [
            {"host": f"{address}@evil.example"},
            {"host": f"{address}.evil.example"},
            {"host": "evil.example"},
            {"host": f"evil.example#{address}"},
            {"origin": f"http://{address}.evil.example"},
            {"origin": f"http://{address}@evil.example"},
            {"origin": "http://evil.example"},
            {"origin": f"https://evil.example/{address}"},
        ]
        async with httpx.AsyncClient(timeout=20) as client:
            for header in headers:
                answer = await client.post(url, json=INITIALIZE, headers=ACCEPT | header)
                outcome.note(f"{header} → {answer.status_code}", answer.status_code in FORBIDDEN)


@contextlib.asynccontextmanager
async def connection(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        yield reader, writer
    finally:
        writer.close()


def health(url: str) -> str:
    """Return the health port of a server."""
    address = urlsplit(url)
    return f"http://{address.hostname}:{(address.port or 0) + HEALTH_OFFSET}"


async def _end(reader: asyncio.StreamReader) -> bytes:
    """Return what comes until the server closes the connection."""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(CLOSE_SECONDS):
            return await reader.read()
    return b""


async def slow_and_large(target: Target, outcome: Outcome) -> None:
    """Headers that do not end, that are too large, or that never come, on every port."""
    begin = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n"
    cases = {
        "nothing": b"",
        "half a request": begin,
        "a large header": begin + b"X: " + b"y" * LARGE_HEADER + b"\r\n\r\n",
        "a header without end": begin + b"X: " + b"y" * LARGE_HEADER * 4,
    }

    async def attempt(door: str, name: str) -> None:
        try:
            async with connection(door) as (reader, writer):
                writer.write(cases[name])
                answer = await _end(reader)
            held = answer == b"" or answer.split()[1] in (b"408", b"431")
        except TimeoutError:
            held = False
        outcome.note(f"{name} on {door}", held)

    served = (target.server.memory_http, target.server.indexer_http)
    doors = [*served, *map(health, served)]
    await asyncio.gather(*(attempt(door, name) for door in doors for name in cases))


async def many_connections(target: Target, outcome: Outcome) -> None:
    """Idle connections, while others ask."""
    url = f"{health(target.server.memory_http)}/livez"
    async with contextlib.AsyncExitStack() as stack:
        for number in range(IDLE_CONNECTIONS):
            await stack.enter_async_context(connection(target.server.memory_http))
            if number % 100 == 0:
                async with httpx.AsyncClient(timeout=20) as client:
                    answer = await client.get(url)
                outcome.note(f"after {number}: {answer.status_code}", answer.status_code == 200)


async def many_sessions(target: Target, outcome: Outcome) -> None:
    """Sessions that are opened and left: the newest answers, the oldest is ended."""
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    url, opened = target.server.memory_http, []
    async with httpx.AsyncClient(timeout=60) as client:
        for _ in range(SESSIONS):
            answer = await client.post(url, json=INITIALIZE, headers=ACCEPT)
            opened.append(answer.headers["mcp-session-id"])
        for session, expected in ((opened[0], 404), (opened[-1], 200)):
            headers = ACCEPT | {"mcp-session-id": session}
            status = (await client.post(url, json=ping, headers=headers)).status_code
            outcome.note(f"a session answers {status}, not {expected}", status == expected)


ATTACKS = [
    ServerAttack("false hosts and origins", disguises),
    ServerAttack("slow and large requests", slow_and_large),
    ServerAttack("idle connections", many_connections),
    ServerAttack("abandoned sessions", many_sessions),
]
