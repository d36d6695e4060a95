"""The steps of reading resources and prompts over MCP: permission, rate limit, errors, metrics."""

import contextlib
import re
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

import mcp_types as mt
from fastmcp.exceptions import FastMCPError, PromptError, ResourceError
from fastmcp.prompts import Prompt as McpPrompt
from fastmcp.prompts.base import PromptResult
from fastmcp.resources import Resource as McpResource
from fastmcp.resources.base import ResourceResult
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.context import Context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext

from ctx_core.access import access
from ctx_core.errors import CtxError, NotPermitted
from ctx_core.serving import caller
from ctx_core.serving.disclosure import without_addresses
from ctx_core.serving.mcp.pipeline import (
    SUCCESS,
    CallFailed,
    caller_of,
    current_request,
    grant_of,
    selection_of,
)
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.rate_limit import RateLimiter
from ctx_core.serving.service import Prompt, Resource
from ctx_core.serving.toolsets import Selection

Listed = TypeVar("Listed", McpResource, ResourceTemplate, McpPrompt)
FAILED = "INTERNAL_ERROR"  # the metrics label of what the MCP library refused


class ReadPipeline(Middleware):
    """Wraps the listing and reading of one server's resources and prompts.

    They belong to toolsets as tools do, and reading one spends of the same rate limit.
    """

    def __init__(
        self,
        resources: Sequence[Resource],
        prompts: Sequence[Prompt],
        toolsets: Collection[str],
        default: Selection,
        limiter: RateLimiter,
        metrics: Metrics,
    ) -> None:
        self._resources = [(_pattern(each.uri), each) for each in resources]
        self._prompts = {each.name: each for each in prompts}
        self._toolsets = toolsets
        self._default = default
        self._limiter = limiter
        self._metrics = metrics

    async def on_list_resources(
        self,
        context: MiddlewareContext[mt.ListResourcesRequest],
        call_next: CallNext[mt.ListResourcesRequest, Sequence[McpResource]],
    ) -> Sequence[McpResource]:
        return self._offered(await call_next(context))

    async def on_list_resource_templates(
        self,
        context: MiddlewareContext[mt.ListResourceTemplatesRequest],
        call_next: CallNext[mt.ListResourceTemplatesRequest, Sequence[ResourceTemplate]],
    ) -> Sequence[ResourceTemplate]:
        return self._offered(await call_next(context))

    async def on_list_prompts(
        self,
        context: MiddlewareContext[mt.ListPromptsRequest],
        call_next: CallNext[mt.ListPromptsRequest, Sequence[McpPrompt]],
    ) -> Sequence[McpPrompt]:
        return self._offered(await call_next(context))

    async def on_read_resource(
        self,
        context: MiddlewareContext[mt.ReadResourceRequestParams],
        call_next: CallNext[mt.ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        uri = str(context.message.uri)
        known = next((each for pattern, each in self._resources if pattern.fullmatch(uri)), None)
        label = known.uri if known else "unknown"
        with self._read(known, label, ResourceError, context.fastmcp_context):
            return await super().on_read_resource(context, call_next)

    async def on_get_prompt(
        self,
        context: MiddlewareContext[mt.GetPromptRequestParams],
        call_next: CallNext[mt.GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        known = self._prompts.get(context.message.name)
        label = known.name if known else "unknown"
        with self._read(known, label, PromptError, context.fastmcp_context):
            return await call_next(context)

    @contextlib.contextmanager
    def _read(
        self,
        known: Resource | Prompt | None,
        label: str,
        failure: type[FastMCPError],
        context: Context | None,
    ) -> Iterator[None]:
        """Admit a reading, count it, and raise its errors as those of the MCP library."""
        started, outcome = time.perf_counter(), SUCCESS
        request = current_request()
        from_client = caller_of(context, request)
        token = caller.current.set(from_client)
        try:
            selection = selection_of(request, self._default, self._toolsets)
            if known is not None and not selection.has(known.toolset):
                raise NotPermitted(
                    f"{label} is not offered to this connection: it belongs to the toolset "
                    f"{known.toolset!r}"
                )
            self._limiter.spend(from_client.client)
            with access.during(grant_of(request)) as granted:
                yield
                granted.require_checked(label)
        except CallFailed as failed:
            outcome = failed.error.code
            raise failure(without_addresses(failed.error.message)) from failed
        except CtxError as error:
            outcome = error.code
            raise failure(without_addresses(error.message)) from error
        except Exception:
            outcome = FAILED
            raise
        finally:
            caller.current.reset(token)
            self._metrics.observe(label, outcome, time.perf_counter() - started)

    def _offered(self, listed: Sequence[Listed]) -> Sequence[Listed]:
        selection = selection_of(current_request(), self._default, self._toolsets)
        return [each for each in listed if any(selection.has(tag) for tag in each.tags)]


def _pattern(uri: str) -> re.Pattern[str]:
    """A URI with `{name}` in it as a pattern of the URIs that it stands for."""
    parts = re.split(r"\{\w+\}", uri)
    return re.compile("[^/?#]+".join(re.escape(part) for part in parts))
