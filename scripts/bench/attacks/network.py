"""Requests that pretend to come from elsewhere."""

from urllib.parse import urlsplit

import httpx

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


ATTACKS = [ServerAttack("false hosts and origins", disguises)]
