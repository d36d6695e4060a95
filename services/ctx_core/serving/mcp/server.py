"""Build the MCP server of a service, registered with fastmcp."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from fastmcp import FastMCP
from fastmcp.prompts.function_prompt import FunctionPrompt
from fastmcp.resources.function_resource import FunctionResource
from fastmcp.resources.template import FunctionResourceTemplate

from ctx_core.serving.mcp.capabilities import Announcement
from ctx_core.serving.mcp.catalog import ShortTool, ToolCatalog
from ctx_core.serving.mcp.pipeline import ToolPipeline, with_deadline
from ctx_core.serving.mcp.reads import ReadPipeline
from ctx_core.serving.mcp.schemas import (
    listed_parameters,
    own_parameters,
    required_parameters,
)
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.owner import ensure_owner_token
from ctx_core.serving.rate_limit import RateLimiter
from ctx_core.serving.service import Prompt, Resource, Service, Tool
from ctx_core.serving.toolsets import configured
from ctx_core.settings import Settings


def build(
    service: Service, settings: Settings, metrics: Metrics, catalog: ToolCatalog | None = None
) -> FastMCP:
    """Build an MCP server with what the service offers, behind the pipelines.

    Servers of one process share a catalog, so that a tool of two servers is read once.
    """
    catalog = catalog or ToolCatalog(settings)
    selection, limiter = configured(settings), RateLimiter(settings.rate_limit_per_minute)
    token = ensure_owner_token(settings.data_dir)
    pipeline = ToolPipeline(
        service.tools,
        selection,
        limiter,
        metrics,
        token,
        service.owner_tools,
        logs_calls=settings.log_format == "json",
    )
    reads = ReadPipeline(
        service.resources, service.prompts, service.toolsets, selection, limiter, metrics
    )
    announcement = Announcement(
        service.resources, service.prompts, service.toolsets, selection, service.instructions
    )
    mcp = SharedServer(
        f"ctx-{service.name}",
        instructions="\n".join(filter(None, [service.instructions, service.about_project])),
        version=version("ctx-engine"),
        middleware=[pipeline, reads, announcement],
        mask_error_details=True,
    )
    for tool in (*service.tools, *service.owner_tools):
        registered = catalog.registered(tool)
        pipeline.schemas[tool.name] = registered.parameters
        mcp.add_tool(_listed(tool, registered, pipeline.schemas))
    set_input_schema_lookup(mcp, pipeline.schemas.get)
    _add_resources(mcp, service.resources, settings)
    _add_prompts(mcp, service.prompts, settings)
    return mcp


class SharedServer(FastMCP):
    """A server that shows every session the same: toolsets are chosen by request."""

    @property
    def _state_store(self) -> Any:
        """fastmcp looks here for what each session hides, at every list and call. Its own store
        takes a quarter of a second to import."""
        return NoSessionState()


class NoSessionState:
    """The state that sessions have: none."""

    async def get(self, key: str) -> None:
        """Return nothing for any key."""


def _add_resources(mcp: FastMCP, resources: Sequence[Resource], settings: Settings) -> None:
    for resource in resources:
        run = with_deadline(resource.run, settings.operation_timeout_seconds)
        described: dict[str, Any] = {
            "name": resource.run.__name__,
            "title": resource.title,
            "description": inspect.getdoc(resource.run),
            "mime_type": "text/plain",
            "tags": {resource.toolset},
        }
        if "{" in resource.uri:
            mcp.add_template(FunctionResourceTemplate.from_function(run, resource.uri, **described))
        else:
            mcp.add_resource(FunctionResource.from_function(run, resource.uri, **described))


def _add_prompts(mcp: FastMCP, prompts: Sequence[Prompt], settings: Settings) -> None:
    for prompt in prompts:
        run = with_deadline(prompt.run, settings.operation_timeout_seconds)
        mcp.add_prompt(FunctionPrompt.from_function(run, title=prompt.title, tags={prompt.toolset}))


def set_input_schema_lookup(
    mcp: FastMCP, lookup: Callable[[str], Mapping[str, Any] | None]
) -> None:
    """Tell the SDK the input schema of a tool by its name.

    Without it the SDK lists all tools before every call of the 2026-07-28 protocol. fastmcp has no
    public name for the SDK's server: this is the only use of the private one.
    """
    mcp._mcp_server.get_tool_input_schema = lookup


def _listed(
    tool: Tool, registered: ShortTool, schemas: Mapping[str, Mapping[str, Any]]
) -> ShortTool:
    """Return a tool with the parameters that its list shows."""
    parameters = registered.parameters
    if tool.alias_of:
        description = f"The same as `{tool.alias_of}`, with all its parameters."
        update = {"description": description, "parameters": required_parameters(parameters)}
    elif tool.extends:
        shared = schemas[tool.extends]["properties"]
        update = {"parameters": own_parameters(parameters, shared)}
    else:
        update = {"parameters": listed_parameters(parameters)}
    return registered.model_copy(update=update)
