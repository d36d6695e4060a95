"""What the servers announce is there, and what they do not announce is refused."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastmcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND

from tests.support.mcp_clients import AUTO, LEGACY
from tests.support.processes import Server, environment, running

STATIC = {"list_changed": False}
TOOLS = {"tools": STATIC}
EVERYTHING = {**TOOLS, "prompts": STATIC, "resources": {**STATIC, "subscribe": False}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(environment(tmp_path_factory.mktemp("capabilities") / "data")) as started:
        yield started


@pytest.mark.parametrize("mode", [LEGACY, AUTO])
@pytest.mark.parametrize(
    ("address", "toolset", "announced"),
    [
        ("memory_http", "", EVERYTHING),
        ("both_http", "", EVERYTHING),
        ("memory_http", "/x/knowledge", EVERYTHING),
        ("memory_http", "/x/lean", TOOLS),
        ("indexer_http", "", TOOLS),
    ],
)
async def test_only_what_is_there_is_announced(
    server: Server, mode: str, address: str, toolset: str, announced: dict[str, Any]
) -> None:
    async with Client(getattr(server, address) + toolset, mode=mode) as client:
        seen = client.session.server_capabilities
        assert seen is not None
        assert seen.model_dump(exclude_none=True) == announced
        assert await client.list_tools()
        for kind, listed in (
            ("prompts", client.list_prompts),
            ("resources", client.list_resources),
            ("resources", client.list_resource_templates),
        ):
            if kind in announced:
                assert await listed()
                continue
            with pytest.raises(MCPError) as refused:
                await listed()
            assert refused.value.code == METHOD_NOT_FOUND


async def test_the_old_transport_announces_the_same(server: Server) -> None:
    async with Client(server.indexer_sse) as client:
        seen = client.session.server_capabilities
        assert seen is not None
        assert seen.model_dump(exclude_none=True) == TOOLS
