"""The steps of every tool call over MCP: permission, rate limit, arguments, errors, metrics."""

import functools
import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

import mcp_types as mt
from fastmcp.exceptions import ToolError
from fastmcp.exceptions import ValidationError as ArgumentsInvalid
from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_http_request
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool as McpTool
from fastmcp.tools import ToolResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import to_jsonable_python
from starlette.requests import Request

from ctx_core.access import access
from ctx_core.access.grant import FULL, Grant
from ctx_core.errors import CtxError, InvalidInput, error_body
from ctx_core.serving import caller, owner, progress, request_id
from ctx_core.serving.disclosure import public_body
from ctx_core.serving.logs import FIELDS
from ctx_core.serving.mcp.arguments import add_warnings, prepare_arguments
from ctx_core.serving.mcp.calls import invalid_arguments, permit, run_with_deadline
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.rate_limit import RateLimiter
from ctx_core.serving.service import JsonText, TextResult, Tool
from ctx_core.serving.toolsets import SCOPE_KEY, Selection, choose

log = logging.getLogger(__name__)

UNKNOWN_TOOL = "unknown"  # one metrics label for every tool name that does not exist
SUCCESS = "ok"  # the metrics label of calls without an error; others have their error's code


class CallFailed(ToolError):
    """Takes an error of a tool through the MCP library, which masks and logs all but its own."""

    def __init__(self, error: CtxError) -> None:
        super().__init__(error.message, log_level=logging.DEBUG)
        self.error = error


def with_deadline(
    run: Callable[..., Awaitable[Any]], timeout_seconds: float
) -> Callable[..., Awaitable[Any]]:
    """Wrap a function of a tool, resource or prompt with a deadline; it raises CallFailed."""

    @functools.wraps(run)
    async def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return await run_with_deadline(
                lambda: run(*args, **kwargs), run.__name__, timeout_seconds
            )
        except CtxError as error:
            raise CallFailed(error) from error

    return call


def with_texts(run: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Wrap a tool's function so that texts and lists become the content of its answer."""

    @functools.wraps(run)
    async def call(*args: Any, **kwargs: Any) -> Any:
        result = await run(*args, **kwargs)
        if isinstance(result, str):
            result = TextResult([result], {"result": result})
        if isinstance(result, TextResult):
            return _as_texts(result)
        if isinstance(result, JsonText):
            return _as_json(result.value)
        # The MCP library would write an empty list as no text at all.
        return _as_json(result) if isinstance(result, list) else result

    return call


def _as_json(value: Any) -> ToolResult:
    plain = to_jsonable_python(value)
    text = mt.TextContent(type="text", text=json.dumps(plain, ensure_ascii=False))
    return ToolResult(content=[text], structured_content={"result": plain})


def _as_texts(result: TextResult) -> ToolResult:
    blocks = [mt.TextContent(type="text", text=text) for text in result.texts]
    return ToolResult(content=blocks, structured_content=dict(result.data))


class ToolPipeline(Middleware):
    """Wraps the listing and calling of one server's tools; every error becomes a body here."""

    def __init__(
        self,
        tools: Sequence[Tool],
        default: Selection,
        limiter: RateLimiter,
        metrics: Metrics,
        owner_token: str | None = None,
        owner_tools: Sequence[Tool] = (),
        logs_calls: bool = False,
    ) -> None:
        self._logs_calls = logs_calls
        self._tools = {tool.name: tool for tool in (*tools, *owner_tools)}
        self._offered = {tool.name: tool for tool in tools}
        self._toolsets = {tool.toolset for tool in tools}
        self._default = default
        self._limiter = limiter
        self._metrics = metrics
        self._owner_token = owner_token
        self.schemas: dict[str, Mapping[str, Any]] = {}

    async def on_list_tools(
        self,
        context: MiddlewareContext[mt.ListToolsRequest],
        call_next: CallNext[mt.ListToolsRequest, Sequence[McpTool]],
    ) -> Sequence[McpTool]:
        request = current_request()
        selection, granted = self._selection(request), access.Access(grant_of(request))
        return [
            each
            for each in await call_next(context)
            if each.name in self._offered
            and selection.admits(self._tools[each.name])
            and self._tools[each.name].admits(granted)
        ]

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        name = context.message.name
        request = current_request()
        given = None if request is None else request.headers.get(request_id.HEADER)
        request_id.current.set(request_id.request_id(given))
        started = time.perf_counter()
        outcome = SUCCESS
        try:
            result = await self._call(context, call_next)
        except CtxError as error:
            outcome = error.code
            # Marked as an error for clients that read no body.
            tool = self._tools.get(name)
            body = public_body(error, (tool.error_body if tool else error_body)(error))
            result = ToolResult(structured_content=body, is_error=True)
        label = name if name in self._tools else UNKNOWN_TOOL
        self._note(label, outcome, time.perf_counter() - started)
        return result

    def _note(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a call, and log it: all in JSON, failures in text too."""
        self._metrics.observe(tool, outcome, seconds)
        fields = {"tool": tool, "outcome": outcome, "ms": round(seconds * 1000, 1)}
        level = logging.DEBUG if outcome == SUCCESS and not self._logs_calls else logging.INFO
        log.log(level, "%s: %s in %.1f ms", *fields.values(), extra={FIELDS: fields})

    async def _call(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run the call with the access of its token. Raises CtxError."""
        with access.during(grant_of(current_request())) as granted:
            result = await self._run(context, call_next, granted)
            granted.require_checked(context.message.name)
            return result

    async def _run(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
        granted: access.Access,
    ) -> ToolResult:
        """Run the call. Raises CtxError, whatever the MCP library raised."""
        message, request = context.message, current_request()
        from_client = caller_of(context.fastmcp_context, request, self._owner_token)
        tools = self._tools if from_client.is_owner else self._offered
        permit(tools, message.name, self._selection(request))
        self._limiter.spend(from_client.client)
        tool = self._tools[message.name]
        tool.require(granted)
        arguments, warnings = prepare_arguments(
            tool, message.arguments or {}, self.schemas[message.name]
        )
        token = caller.current.set(from_client)
        if context.fastmcp_context is not None:
            progress.current.set(context.fastmcp_context.report_progress)
        try:
            result = await call_next(
                context.copy(message=message.model_copy(update={"arguments": arguments}))
            )
            return _warned(_rendered(tool, result), warnings)
        except CallFailed as failed:
            raise failed.error from failed
        except ArgumentsInvalid as error:
            raise _invalid(error) from error
        finally:
            caller.current.reset(token)

    def _selection(self, request: Request | None) -> Selection:
        return selection_of(request, self._default, self._toolsets)


def _rendered(tool: Tool, result: ToolResult) -> ToolResult:
    """Replace the text content by the tool's own rendering of the structured content."""
    if tool.render is None or result.is_error or result.structured_content is None:
        return result
    text = tool.render(result.structured_content)
    return ToolResult(
        content=[mt.TextContent(type="text", text=text)],
        structured_content=result.structured_content,
        meta=result.meta,
    )


def _warned(result: ToolResult, warnings: Sequence[str]) -> ToolResult:
    """Add warnings to a result: to its object, and as a text of their own."""
    if not warnings or result.is_error:
        return result
    body = result.structured_content
    if body is not None and set(body) != {"result"}:
        body = add_warnings(body, warnings)
    text = mt.TextContent(type="text", text="\n".join(f"warning: {each}" for each in warnings))
    return ToolResult(content=[*result.content, text], structured_content=body, meta=result.meta)


def selection_of(
    request: Request | None, default: Selection, toolsets: Collection[str]
) -> Selection:
    """Return the toolsets that a request is offered; without one the default."""
    if request is None:
        return default
    return choose(default, request.headers, request.scope.get(SCOPE_KEY), toolsets)


def current_request() -> Request | None:
    """Return the HTTP request that is being served; None over stdio and in process."""
    try:
        return get_http_request()
    except RuntimeError:
        return None


def caller_of(
    context: Context | None, request: Request | None, owner_token: str | None = None
) -> caller.Caller:
    """Return who calls, as far as the transport and the protocol tell."""
    given = None if request is None else request.headers.get(owner.HEADER)
    is_owner = owner.is_owner(given, owner_token)
    return caller.Caller(_client(request), _connection(context), _name(context), is_owner)


def grant_of(request: Request | None) -> Grant:
    """Return what the token of a request grants; over stdio and in process that is everything."""
    return FULL if request is None else caller.grant_of(request.scope)


def _name(context: Context | None) -> str | None:
    if context is None or context.request_context is None:
        return None
    params = context.session.client_params
    return params.client_info.name if params is not None else None


def _client(request: Request | None) -> str:
    return caller.LOCAL_NAME if request is None else caller.client_of(request.scope)


def _connection(context: Context | None) -> str | None:
    """Return the id of a connection that outlives this call; the stateless protocol has none."""
    if context is None or context.request_context is None:
        return None
    stateless = context.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return None if stateless else context.session_id


def _invalid(error: ArgumentsInvalid) -> InvalidInput:
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        return invalid_arguments(cause)
    return InvalidInput("arguments", str(error))
