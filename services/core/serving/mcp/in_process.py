"""Calling a tool of a service in this process, through the same pipeline as over the network."""

from typing import Any

from fastmcp import Client

from services.core.serving.mcp.client import result_body
from services.core.serving.mcp.server import build
from services.core.serving.metrics import Metrics
from services.core.serving.progress import Report
from services.core.serving.service import Service
from services.core.settings import Settings


async def call_tool_in_process(
    service: Service,
    settings: Settings,
    tool: str,
    arguments: dict[str, Any],
    *,
    on_progress: Report | None = None,
) -> dict[str, Any]:
    """Return the tool's result. Raises RemoteFailed where the tool refuses."""
    async with Client(build(service, settings, Metrics(service.name, {}))) as client:
        result = await client.call_tool_mcp(tool, arguments, progress_handler=on_progress)
    return result_body(tool, result)
