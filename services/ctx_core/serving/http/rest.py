"""Serves a REST API: routes to functions, every error as JSON in the API's own words."""

import json
import logging
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ctx_core.access import access
from ctx_core.errors import (
    CtxError,
    InvalidInput,
    NotPermitted,
    RateLimited,
    RequestInvalid,
    StorageFailed,
    Unexpected,
)
from ctx_core.serving import caller
from ctx_core.serving.http.guard import Admission, guard
from ctx_core.serving.mcp.calls import run_with_deadline
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.rate_limit import RateLimiter
from ctx_core.serving.service import RestEndpoint, RestRequest, RestRoute, require_reach
from ctx_core.settings import Settings

log = logging.getLogger(__name__)

SUCCESS = "ok"  # the metrics label of a request without an error
STATUSES: Mapping[type[CtxError], HTTPStatus] = {
    InvalidInput: HTTPStatus.BAD_REQUEST,
    RequestInvalid: HTTPStatus.BAD_REQUEST,
    NotPermitted: HTTPStatus.FORBIDDEN,
    RateLimited: HTTPStatus.TOO_MANY_REQUESTS,
}


def rest_app(
    endpoint: RestEndpoint, settings: Settings, metrics: Metrics, admitted: Admission
) -> ASGIApp:
    """Return the application of a REST API, behind the same guard as the MCP ports."""
    limiter = RateLimiter(settings.rate_limit_per_minute)

    def route(served: RestRoute) -> Route:
        async def handle(request: Request) -> Response:
            label = f"{served.method} {served.path}"
            started = time.perf_counter()
            outcome = SUCCESS
            try:
                limiter.spend(caller.client_of(request.scope))
                with access.during(caller.grant_of(request.scope)) as granted:
                    granted.require_scope(served.needed_scope, label)
                    require_reach(endpoint.reach, granted, label)
                    seconds = served.timeout_seconds or settings.operation_timeout_seconds
                    parsed = await _parse(request, served.method)
                    body = await run_with_deadline(lambda: served.run(parsed), label, seconds)
                    granted.require_checked(label)
                response: Response = JSONResponse(body)
            except CtxError as error:
                outcome = error.code
                response = _error(endpoint, error)
            metrics.observe(label, outcome, time.perf_counter() - started)
            return response

        return Route(served.path, handle, methods=[served.method])

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        body = endpoint.error_body(error.status_code, error.detail)
        return JSONResponse(body, error.status_code, headers=error.headers)

    app = Starlette(
        routes=[route(each) for each in endpoint.routes],
        exception_handlers={HTTPException: refused},
    )
    return _JsonErrors(guard(app, settings, admitted), endpoint)


async def _parse(request: Request, method: str) -> RestRequest:
    """Return the request with its JSON. Raises RequestInvalid."""
    path = {name: str(value) for name, value in request.path_params.items()}
    body: Any = None
    if method == "POST":
        try:
            body = json.loads(await request.body(), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise RequestInvalid("Invalid JSON request") from error
    return RestRequest(path, dict(request.query_params), body)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _error(endpoint: RestEndpoint, error: CtxError) -> Response:
    status = next(
        (status for kind, status in STATUSES.items() if isinstance(error, kind)),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )
    message = error.message
    if isinstance(error, StorageFailed):
        log.error("a request failed: %s", error)
        message = "a database did not answer; the server's log has the details"
    headers = {}
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(round(error.details["retry_after_seconds"] + 0.5))
    return JSONResponse(endpoint.error_body(status, message), status, headers=headers)


class _JsonErrors:
    """Writes errors of the guard, which are plain text, as the API writes its own."""

    def __init__(self, app: ASGIApp, endpoint: RestEndpoint) -> None:
        self._app = app
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started: Message | None = None
        body = b""

        async def rewritten(message: Message) -> None:
            nonlocal started, body
            if message["type"] == "http.response.start" and message["status"] >= 400:
                started = message
                return
            if started is None:
                await send(message)
                return
            body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send(started, body, scope, receive, send)

        try:
            await self._app(scope, receive, rewritten)
        except Exception as error:
            log.exception("a request failed")
            unexpected = Unexpected("Internal error; the server's log has the details.")
            if started is None:
                await _error(self._endpoint, unexpected)(scope, receive, send)
            raise error from None

    async def _send(
        self, start: Message, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        headers = Headers(raw=start["headers"])
        try:
            parsed = json.loads(body)
        except ValueError:
            parsed = {"error": body.decode(errors="replace")}
        if isinstance(parsed, dict) and "error" in parsed:  # the guard's, not the API's
            parsed = self._endpoint.error_body(start["status"], str(parsed["error"]))
        kept = {
            name: headers[name]
            for name in ("www-authenticate", "allow", "retry-after")
            if name in headers
        }
        await JSONResponse(parsed, start["status"], headers=kept)(scope, receive, send)
