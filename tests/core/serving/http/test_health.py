"""Readiness, where what was checked goes away before the answer is complete."""

import httpx
from fastmcp import FastMCP
from starlette.types import Receive, Scope, Send

from ctx_core.access.grant import FULL
from ctx_core.errors import StorageFailed
from ctx_core.serving.caller import GRANT_KEY
from ctx_core.serving.http.health import health_app
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.service import Service


async def fine() -> None:
    pass


async def gone() -> list[str]:
    raise StorageFailed("Qdrant did not answer within 2 s")


async def test_advice_that_cannot_be_given_is_a_reason_and_no_crash() -> None:
    service = Service("memory", "", [], {"qdrant": fine}, 0, 0, advice=gone)
    app = health_app(service, FastMCP("memory"), Metrics("memory", {}))

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, GRANT_KEY: FULL}, receive, send)

    transport = httpx.ASGITransport(guarded)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 503
    checks = {"qdrant": "ok", "advice": "Qdrant did not answer within 2 s"}
    assert answer.json() == {"ok": False, "service": "memory", "checks": checks, "advice": []}
