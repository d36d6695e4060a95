"""The application of the health ports: /livez, /readyz, /tools, /metrics."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastmcp import FastMCP
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ctx_core.serving.caller import grant_of
from ctx_core.serving.disclosure import without_addresses
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.service import Check, Service

WITHHELD = "failed; ask with a token without limits for the reason, or: ctx doctor"
CHECK_TIMEOUT_SECONDS = 3.0  # below the usual probe timeouts, above a check that is slow but works
OK = "ok"


async def readiness(checks: Mapping[str, Check]) -> dict[str, str]:
    """Run all checks at once; return 'ok' or the reason of the failure for each."""
    outcomes = await asyncio.gather(*(_outcome(check) for check in checks.values()))
    return dict(zip(checks, outcomes, strict=True))


async def _outcome(check: Check) -> str:
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
            await check()
    except TimeoutError:
        return f"no answer within {CHECK_TIMEOUT_SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - whatever it raises is the reason
        return without_addresses(str(error)) or type(error).__name__
    return OK


async def _advised(service: Service) -> tuple[dict[str, str], list[str]]:
    """Run the checks, then ask for advice; where that fails it is one more check."""
    checks = await readiness(service.checks)
    advice: list[str] = []
    if any(outcome != OK for outcome in checks.values()):
        return checks, advice

    async def advise() -> None:
        advice.extend(await service.advice())

    if (outcome := await _outcome(advise)) != OK:  # something went away since it was checked
        checks["advice"] = outcome
    return checks, advice


def health_app(service: Service, mcp: FastMCP, metrics: Metrics) -> Starlette:
    """Return the application of one service's health ports."""

    async def livez(_: Request) -> Response:
        return JSONResponse({"ok": True, "service": service.name})

    async def readyz(request: Request) -> Response:
        checks, advice = await _advised(service)
        ready = all(outcome == OK for outcome in checks.values())
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        if grant_of(request.scope).limits is not None:
            shown = {name: each if each == OK else WITHHELD for name, each in checks.items()}
            return JSONResponse({"ok": ready, "service": service.name, "checks": shown}, status)
        body = {
            "ok": ready,
            "service": service.name,
            "checks": checks,
            "advice": advice,
            **{name: read() for name, read in service.details.items()},
        }
        return JSONResponse(body, status)

    async def tools(_: Request) -> Response:
        listed = [await _describe(tool.name, tool.toolset, mcp) for tool in service.tools]
        return JSONResponse({"service": service.name, "tools": listed})

    async def prometheus(_: Request) -> Response:
        return Response(metrics.render(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(
        routes=[
            Route("/livez", livez),
            Route("/readyz", readyz),
            Route("/tools", tools),
            Route("/metrics", prometheus),
        ]
    )


async def _describe(name: str, toolset: str, mcp: FastMCP) -> dict[str, Any]:
    tool = await mcp.get_tool(name)
    assert tool is not None, name
    wire = tool.to_mcp_tool().model_dump(mode="json", by_alias=True, exclude_none=True)
    kept = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
    return {"toolset": toolset} | {key: wire[key] for key in kept if key in wire}
