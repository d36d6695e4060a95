"""A service as an MCP server: the only file that registers tools with fastmcp."""

from importlib.metadata import version
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import FunctionTool
from mcp_types import ToolAnnotations

from services.core.serving.mcp.calls import deadline_of
from services.core.serving.mcp.pipeline import ToolPipeline, with_deadline
from services.core.serving.metrics import Metrics
from services.core.serving.rate_limit import RateLimiter
from services.core.serving.service import Effect, Service, Tool
from services.core.serving.toolsets import configured
from services.core.settings import Settings


def build(service: Service, settings: Settings, metrics: Metrics) -> FastMCP:
    """Register the service's tools behind the call pipeline."""
    calls = ToolPipeline(
        service.tools,
        configured(settings),
        RateLimiter(settings.rate_limit_per_minute),
        metrics,
    )
    mcp: FastMCP = FastMCP(
        f"ctx-{service.name}",
        instructions=service.instructions,
        version=version("ctx-engine"),
        middleware=[calls],
        mask_error_details=True,
    )
    for tool in service.tools:
        registered = FunctionTool.from_function(
            with_deadline(tool.run, deadline_of(tool, settings)),
            title=tool.title,
            tags={tool.toolset},
            annotations=_hints(tool),
        )
        registered.output_schema = _answers(registered.output_schema)
        mcp.add_tool(registered)
        calls.schemas[tool.name] = registered.parameters
    # Without this look-up the SDK lists all tools before every call of the 2026-07-28 protocol.
    mcp._mcp_server.get_tool_input_schema = calls.schemas.get
    return mcp


def _answers(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """The schema of every answer: the error body has other keys than the result, and clients check
    errors too (the TypeScript SDK 1.x), so no key is required."""
    return schema and {key: value for key, value in schema.items() if key != "required"}


def _hints(tool: Tool) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=not tool.writes,
        destructive_hint=tool.effect is Effect.DESTROYS,
        idempotent_hint=tool.effect is not Effect.ADDS,
        open_world_hint=False,
    )
