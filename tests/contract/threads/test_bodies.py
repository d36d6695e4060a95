"""Images over HTTP and SSE: what the settings allow passes, and a refusal ends no session."""

import base64
import os
from collections.abc import Iterator
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StreamableHttpTransport
from fastmcp.exceptions import McpError

from tests.support.processes import Server, environment, running

MB = 1024 * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    env = environment(tmp_path_factory.mktemp("bodies") / "data", MAX_IMAGE_SIZE_MB="6")
    with running(env) as started:
        yield started


def entry(megabytes: float, images: int = 1) -> dict[str, Any]:
    data = base64.b64encode(os.urandom(int(megabytes * MB))).decode()
    return {
        "thread_id": "pictures",
        "source": "user",
        "text": f"{images} of {megabytes} MB",
        "images": [{"data": data, "mime_type": "image/png"}] * images,
    }


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_an_image_of_the_largest_size_passes(server: Server, transport: str) -> None:
    way: Any = (
        StreamableHttpTransport(server.memory_http)
        if transport == "http"
        else SSETransport(server.memory_sse)
    )
    given = entry(6)
    async with Client(way) as client:
        stored = (await client.call_tool("store_context", given)).structured_content
    assert stored is not None
    async with Client(server.memory_http) as client:  # SSE clients read events of up to 1 MB
        read = await client.call_tool("get_context_by_ids", {"context_ids": [stored["context_id"]]})
    assert read.structured_content is not None
    [kept] = read.structured_content["result"]
    assert kept["images"][0]["data"] == given["images"][0]["data"]


async def test_a_body_that_is_too_large_leaves_the_session_alive(server: Server) -> None:
    async with Client(server.memory_http) as client:
        with pytest.raises(McpError, match="Request body too large"):
            await client.call_tool("store_context", entry(6, images=3))
        result = await client.call_tool("list_threads", {})
        assert result.structured_content is not None
