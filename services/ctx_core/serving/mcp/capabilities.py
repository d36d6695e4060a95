"""What a server announces to a client: that which this connection is really offered."""

from collections.abc import Collection, Sequence
from typing import Any

import mcp_types as mt
from fastmcp.prompts import Prompt as McpPrompt
from fastmcp.resources import Resource as McpResource
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp.shared.exceptions import MCPError

from ctx_core.serving.mcp.pipeline import current_request, grant_of, selection_of
from ctx_core.serving.service import Prompt, Resource
from ctx_core.serving.toolsets import Selection


class Announcement(Middleware):
    """Corrects the capabilities that fastmcp announces for every server.

    fastmcp names prompts, resources, log messages, changing lists and its own extension also where
    a server has none. A list that is not announced is refused as an unknown method.
    """

    def __init__(
        self,
        resources: Sequence[Resource],
        prompts: Sequence[Prompt],
        toolsets: Collection[str],
        default: Selection,
        instructions: str = "",
    ) -> None:
        """`instructions` are those for a client whose token has limits."""
        self._instructions = instructions
        self._resources = frozenset(each.toolset for each in resources)
        self._prompts = frozenset(each.toolset for each in prompts)
        self._toolsets = toolsets
        self._default = default

    async def on_initialize(
        self,
        context: MiddlewareContext[mt.InitializeRequest],
        call_next: CallNext[mt.InitializeRequest, mt.InitializeResult | None],
    ) -> mt.InitializeResult | None:
        result = await call_next(context)
        if result is None:
            return None
        return result.model_copy(update=self._announced())

    async def on_discover(
        self,
        context: MiddlewareContext[mt.DiscoverRequest],
        call_next: CallNext[mt.DiscoverRequest, mt.DiscoverResult | dict[str, Any]],
    ) -> mt.DiscoverResult | dict[str, Any]:
        result = await call_next(context)
        if isinstance(result, dict):
            return result
        return result.model_copy(update=self._announced())

    async def on_list_resources(
        self,
        context: MiddlewareContext[mt.ListResourcesRequest],
        call_next: CallNext[mt.ListResourcesRequest, Sequence[McpResource]],
    ) -> Sequence[McpResource]:
        self._require(self._resources, "resources")
        return await call_next(context)

    async def on_list_resource_templates(
        self,
        context: MiddlewareContext[mt.ListResourceTemplatesRequest],
        call_next: CallNext[mt.ListResourceTemplatesRequest, Sequence[ResourceTemplate]],
    ) -> Sequence[ResourceTemplate]:
        self._require(self._resources, "resources")
        return await call_next(context)

    async def on_list_prompts(
        self,
        context: MiddlewareContext[mt.ListPromptsRequest],
        call_next: CallNext[mt.ListPromptsRequest, Sequence[McpPrompt]],
    ) -> Sequence[McpPrompt]:
        self._require(self._prompts, "prompts")
        return await call_next(context)

    def _announced(self) -> dict[str, Any]:
        """Return what replaces fastmcp's words: what is offered, and no names beyond the limits."""
        announced: dict[str, Any] = {"capabilities": self._capabilities()}
        if grant_of(current_request()).limits is not None:
            announced["instructions"] = self._instructions
        return announced

    def _capabilities(self) -> mt.ServerCapabilities:
        resources = mt.ResourcesCapability(subscribe=False, list_changed=False)
        prompts = mt.PromptsCapability(list_changed=False)
        return mt.ServerCapabilities(
            tools=mt.ToolsCapability(list_changed=False),
            resources=resources if self._offers(self._resources) else None,
            prompts=prompts if self._offers(self._prompts) else None,
        )

    def _require(self, toolsets: Collection[str], kind: str) -> None:
        if not self._offers(toolsets):
            raise MCPError(mt.METHOD_NOT_FOUND, f"This connection is offered no {kind}.")

    def _offers(self, toolsets: Collection[str]) -> bool:
        selection = selection_of(current_request(), self._default, self._toolsets)
        return any(selection.has(toolset) for toolset in toolsets)
