"""Build the MCP server of a service: the only file that registers with fastmcp."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from fastmcp import FastMCP
from fastmcp.prompts.function_prompt import FunctionPrompt
from fastmcp.resources.function_resource import FunctionResource
from fastmcp.resources.template import FunctionResourceTemplate
from fastmcp.tools import FunctionTool
from mcp_types import Tool as ListedTool
from mcp_types import ToolAnnotations

from services.core.serving.mcp.calls import deadline_of
from services.core.serving.mcp.capabilities import Announcement
from services.core.serving.mcp.pipeline import ToolPipeline, with_deadline, with_texts
from services.core.serving.mcp.reads import ReadPipeline
from services.core.serving.mcp.schemas import (
    OUTPUT_SCHEMA,
    listed_parameters,
    own_parameters,
    required_parameters,
    without_obvious_descriptions,
)
from services.core.serving.metrics import Metrics
from services.core.serving.owner import ensure_owner_token
from services.core.serving.rate_limit import RateLimiter
from services.core.serving.service import Effect, Prompt, Resource, Service, Tool
from services.core.serving.toolsets import configured
from services.core.settings import Settings


def build(service: Service, settings: Settings, metrics: Metrics) -> FastMCP:
    """Build an MCP server with what the service offers, behind the pipelines."""
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
    announcement = Announcement(service.resources, service.prompts, service.toolsets, selection)
    mcp: FastMCP = FastMCP(
        f"ctx-{service.name}",
        instructions=service.instructions,
        version=version("ctx-engine"),
        middleware=[pipeline, reads, announcement],
        mask_error_details=True,
    )
    for tool in (*service.tools, *service.owner_tools):
        registered = ShortTool.from_function(
            with_texts(with_deadline(tool.run, deadline_of(tool, settings))),
            title=tool.title,
            annotations=_hints(tool),
        )
        registered.output_schema = dict(OUTPUT_SCHEMA)
        pipeline.schemas[tool.name] = registered.parameters
        if tool.alias_of:
            registered.description = f"The same as `{tool.alias_of}`, with all its parameters."
            registered.parameters = required_parameters(registered.parameters)
        elif tool.extends:
            shared = pipeline.schemas[tool.extends]["properties"]
            registered.parameters = own_parameters(registered.parameters, shared)
        else:
            registered.parameters = listed_parameters(registered.parameters)
        mcp.add_tool(registered)
    set_input_schema_lookup(mcp, pipeline.schemas.get)
    _add_resources(mcp, service.resources, settings)
    _add_prompts(mcp, service.prompts, settings)
    return mcp


class ShortTool(FunctionTool):
    """A tool that is listed without fastmcp's own data, which no client reads, and in few words."""

    def to_mcp_tool(self, **overrides: Any) -> ListedTool:
        schema = without_obvious_descriptions(self.parameters)
        return super().to_mcp_tool(**{"_meta": None, "inputSchema": schema, **overrides})


def _add_resources(mcp: FastMCP, resources: Sequence[Resource], settings: Settings) -> None:
    for resource in resources:
        run = with_deadline(resource.run, settings.operation_timeout_seconds)
        described: dict[str, Any] = {
            "name": resource.run.__name__,
            "title": resource.title,
            "description": inspect.getdoc(resource.run),
            "mime_type": resource.mime_type,
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


def _hints(tool: Tool) -> ToolAnnotations:
    """Return what a client may rely on; the other hints say nothing of a tool that only reads.

    `openWorldHint` is left out: no client asks for it.
    """
    if not tool.writes:
        return ToolAnnotations(read_only_hint=True)
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=tool.effect in (Effect.REPLACES, Effect.DESTROYS),
        idempotent_hint=tool.effect not in (Effect.ADDS, Effect.REPLACES),
    )
