"""Call a tool of another ctx server over MCP."""

from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from services.core.errors import RemoteFailed, StorageFailed
from services.core.serving.progress import Report

CALL_TIMEOUT_SECONDS = 30.0  # the servers' own default for one operation


async def call_tool(
    url: str,
    tool: str,
    arguments: dict[str, Any],
    token: str | None = None,
    *,
    seconds: float = CALL_TIMEOUT_SECONDS,
    on_progress: Report | None = None,
    headers: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Call a tool and return its result.

    Raises RemoteFailed for an error of the tool, StorageFailed where no server answers.
    """
    transport = StreamableHttpTransport(url, headers, auth=token)
    try:
        async with Client(transport, timeout=seconds) as client:
            result = await client.call_tool_mcp(tool, arguments, progress_handler=on_progress)
    except Exception as error:  # the client raises whatever its transport raises
        raise StorageFailed(
            f"No ctx server answers at {url} ({error}). Start it with: ctx up", url=url
        ) from error
    body = result.structured_content or {}
    if result.is_error:
        raise RemoteFailed({"error": f"{tool} failed", "error_code": "INTERNAL_ERROR"} | body)
    return body
