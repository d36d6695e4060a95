"""Real MCP clients against real running servers."""

import functools
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import fastmcp
import jsonschema
import pytest
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from mcp.client.stdio import StdioServerParameters

from ctx.install.mcp_remote import Token, variables, words
from ctx_core.errors import InvalidInput, error_body
from tests.support.mcp_clients import (
    AUTO,
    HTTP,
    LEGACY,
    MODERN,
    SSE,
    Answer,
    Calls,
    Report,
    Talk,
    found_ids,
    found_in,
    fresh,
    mcp_over_sse,
    mcp_remote,
    session_over_http,
    session_over_sse,
    session_over_stdio,
    url_of,
    with_fastmcp,
    with_inspector,
    with_mcp,
    with_script,
)
from tests.support.node import Node
from tests.support.processes import ROOT, Server, environment, running

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
SERVICES = ("memory", "indexer")
CORE_TOOLS = {
    "memory": {"store", "find", "set_session_defaults"},
    "indexer": {"memory_store", "qdrant_list", "set_session_defaults"},
}
TOKEN = "a-token-for-tests"


# --- what every client does ------------------------------------------------------------------


def conversation(service: str, word: str) -> Calls:
    """Store a memory about the word, look for it, and make a mistake."""
    memory = {"information": f"The {word} service retries twice.", "metadata": {"tags": [word]}}
    if service == "memory":
        return [("store", memory), ("find", {"query": word}), ("find", {"query": ""})]
    return [("memory_store", memory), ("qdrant_list", {}), ("memory_store", {"information": ""})]


async def check(talk: Callable[[Calls], Awaitable[Report]], service: str, server: Server) -> Report:
    """The conversation went as the contract says."""
    word = fresh("word")
    report = await talk(conversation(service, word))
    stored, looked, refused = report.answers
    assert sorted(report.tools) == sorted(served_tools(server, service))
    assert all(json.loads(answer.text) == answer.body for answer in report.answers)
    assert not stored.is_error
    assert stored.body["ok"] is True
    assert not looked.is_error
    if service == "memory":
        assert found_ids(looked)[0] == stored.body["id"]
        assert looked.body["results"][0]["metadata"]["tags"] == [word]
    else:
        assert "memories" in {row["name"] for row in looked.body["collections"]}
        assert await found_in(server, word) == [stored.body["id"]]
    check_refusal(refused, "query" if service == "memory" else "information")
    return report


def check_refusal(answer: Answer, field: str) -> None:
    assert answer.is_error
    assert set(answer.body) == {"ok", "error", "error_code", "details"}
    assert answer.body["ok"] is False
    assert answer.body["error_code"] == "VALIDATION_ERROR"
    assert answer.body["details"]["field"] == field
    assert field in answer.body["error"]


def served_tools(server: Server, service: str) -> list[str]:
    health = server.memory_health if service == "memory" else server.indexer_health
    with urllib.request.urlopen(f"{health}/tools") as answer:
        return [tool["name"] for tool in json.load(answer)["tools"]]


@pytest.mark.parametrize("service", SERVICES)
def test_the_contracts_tools_are_served(server: Server, service: str) -> None:
    assert CORE_TOOLS[service] <= set(served_tools(server, service))


# --- Python clients ---------------------------------------------------------------------------

PYTHON_CLIENTS = [
    pytest.param(with_fastmcp, HTTP, STATELESS, id="fastmcp-http"),
    pytest.param(
        functools.partial(with_fastmcp, mode=LEGACY), HTTP, HANDSHAKE, id="fastmcp-http-handshake"
    ),
    pytest.param(functools.partial(with_fastmcp, mode=LEGACY), SSE, HANDSHAKE, id="fastmcp-sse"),
    pytest.param(with_mcp, HTTP, STATELESS, id="mcp-http"),
    pytest.param(
        functools.partial(with_mcp, mode=LEGACY), HTTP, HANDSHAKE, id="mcp-http-handshake"
    ),
    pytest.param(mcp_over_sse, SSE, HANDSHAKE, id="mcp-sse"),
    pytest.param(session_over_http, HTTP, HANDSHAKE, id="mcp-session-http"),
    pytest.param(session_over_sse, SSE, HANDSHAKE, id="mcp-session-sse"),
]


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(("talk", "transport", "protocol"), PYTHON_CLIENTS)
async def test_python_clients(
    server: Server, talk: Talk, transport: str, protocol: str, service: str
) -> None:
    url = url_of(server, service, transport)
    report = await check(lambda calls: talk(url, calls), service, server)
    assert report.protocol == protocol


def stdio_command(service: str, folder: Path, **settings: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", f"ctx_{service}", "--transports", "stdio"],
        env=environment(folder / "data", **settings),
        cwd=ROOT,
    )


async def test_fastmcp_over_stdio(server: Server, tmp_path: Path) -> None:
    """The indexer as a program of the client's, with the memory server that runs elsewhere."""
    command = stdio_command("indexer", tmp_path, CTX_MEMORY_URL=server.memory_http)
    transport = StdioTransport(
        command.command, command.args, env=command.env, cwd=str(ROOT), keep_alive=False
    )
    word = fresh("word")
    calls = [*conversation("indexer", word)[::2], ("qdrant_list", {})]
    report = await with_fastmcp(transport, calls)
    stored, refused, listed = report.answers
    assert sorted(report.tools) == sorted(served_tools(server, "indexer"))
    assert await found_in(server, word) == [stored.body["id"]]
    check_refusal(refused, "information")
    assert listed.body["ok"] is True


@pytest.mark.parametrize(
    ("talk", "protocol"),
    [
        pytest.param(with_mcp, STATELESS, id="mcp"),
        pytest.param(session_over_stdio, HANDSHAKE, id="mcp-session"),
    ],
)
async def test_mcp_over_stdio(
    server: Server,
    tmp_path: Path,
    talk: Callable[[StdioServerParameters, Calls], Awaitable[Report]],
    protocol: str,
) -> None:
    command = stdio_command("memory", tmp_path)
    report = await check(lambda calls: talk(command, calls), "memory", server)
    assert report.protocol == protocol


# --- Node clients -----------------------------------------------------------------------------


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    ("script", "transport", "mode", "protocol"),
    [
        pytest.param("sdk1.mjs", HTTP, (), HANDSHAKE, id="sdk-1-http"),
        pytest.param("sdk1.mjs", SSE, (), HANDSHAKE, id="sdk-1-sse"),
        pytest.param("client2.mjs", HTTP, (AUTO,), STATELESS, id="client-2-http"),
        pytest.param("client2.mjs", HTTP, (LEGACY,), HANDSHAKE, id="client-2-http-handshake"),
        pytest.param("client2.mjs", SSE, (LEGACY,), HANDSHAKE, id="client-2-sse"),
    ],
)
async def test_typescript_clients(
    server: Server,
    node: Node,
    script: str,
    transport: str,
    mode: tuple[str, ...],
    protocol: str,
    service: str,
) -> None:
    arguments = (transport, url_of(server, service, transport), *mode)
    report = await check(lambda calls: with_script(node, script, arguments, calls), service, server)
    assert report.protocol == protocol


@pytest.mark.parametrize(
    ("service", "transport", "era"),
    [("memory", HTTP, MODERN), ("memory", SSE, LEGACY), ("indexer", HTTP, LEGACY)],
)
async def test_inspector(
    server: Server, node: Node, service: str, transport: str, era: str
) -> None:
    url = url_of(server, service, transport)
    await check(lambda calls: with_inspector(node, url, calls, era), service, server)


@pytest.mark.parametrize("service", SERVICES)
async def test_inspector_finds_no_fault_in_the_schemas(
    server: Server, node: Node, service: str
) -> None:
    """`--strict` ends with an error where a schema is not portable between clients."""
    url = url_of(server, service, HTTP)
    inspector = node.package("mcp-inspector")
    listed = await node.run(inspector, "--cli", url, "--method", "tools/list", "--strict")
    assert len(json.loads(listed)["tools"]) == len(served_tools(server, service))


@pytest.mark.parametrize(
    ("service", "transport", "mode", "protocol"),
    [
        ("memory", SSE, LEGACY, HANDSHAKE),
        ("memory", HTTP, LEGACY, HANDSHAKE),
        ("indexer", SSE, LEGACY, HANDSHAKE),
        ("indexer", HTTP, AUTO, STATELESS),
    ],
)
async def test_mcp_remote(
    server: Server, node: Node, service: str, transport: str, mode: str, protocol: str
) -> None:
    url = url_of(server, service, transport)
    proxy = mcp_remote(node, url, "--transport", f"{transport}-only")
    report = await check(lambda calls: with_mcp(proxy, calls, mode), service, server)
    assert report.protocol == protocol


# --- what docs/clients.md promises ------------------------------------------------------------


@pytest.mark.parametrize("mode", [AUTO, LEGACY])
@pytest.mark.parametrize(
    ("suffix", "headers", "tools"),
    [
        ("/x/memory", {}, {"store", "find"}),
        ("", {"X-MCP-Toolsets": "session,nonsense"}, {"set_session_defaults"}),
        ("", {"X-MCP-Readonly": "true"}, {"find"}),
        ("/x/memory", {"X-MCP-Toolsets": "session", "X-MCP-Readonly": "true"}, {"find"}),
    ],
)
async def test_a_client_chooses_its_tools(
    server: Server, suffix: str, headers: dict[str, str], tools: set[str], mode: str
) -> None:
    transport = StreamableHttpTransport(server.memory_http + suffix, headers)
    report = await with_fastmcp(transport, [], mode)
    assert CORE_TOOLS["memory"] & set(report.tools) == tools


@pytest.mark.parametrize(
    ("kind", "transport", "mode"),
    [
        pytest.param(StreamableHttpTransport, HTTP, AUTO, id="http"),
        pytest.param(StreamableHttpTransport, HTTP, LEGACY, id="http-handshake"),
        pytest.param(SSETransport, SSE, LEGACY, id="sse"),
    ],
)
async def test_a_hidden_tool_is_refused(
    server: Server,
    kind: type[StreamableHttpTransport | SSETransport],
    transport: str,
    mode: str,
) -> None:
    to = kind(url_of(server, "memory", transport), headers={"X-MCP-Readonly": "true"})
    report = await with_fastmcp(to, [("store", {"information": "No."})], mode)
    assert "store" not in report.tools
    assert report.answers[0].is_error
    assert report.answers[0].body["error_code"] == "NOT_PERMITTED"


@pytest.mark.parametrize("service", SERVICES)
async def test_error_bodies_fit_the_schema_of_every_tool(server: Server, service: str) -> None:
    """Clients such as the TypeScript SDK 1.x check errors too, and hide one that does not fit."""
    body = error_body(InvalidInput("field", "is wrong"))
    async with fastmcp.Client(url_of(server, service, HTTP)) as client:
        for tool in await client.list_tools():
            assert tool.output_schema, tool.name
            jsonschema.validate(body, tool.output_schema)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A memory server that asks for a token."""
    folder = tmp_path_factory.mktemp("guarded") / "data"
    with running(environment(folder, CTX_AUTH_TOKENS=f"another,{TOKEN}"), "-m", "ctx_memory") as it:
        yield it


async def test_bearer_tokens(guarded: Server) -> None:
    url = guarded.memory_http
    assert status_without_token(url) == status_without_token(guarded.memory_sse) == 401
    for to, scheme in ((url, "Bearer"), (f"{url}/x/memory", "bearer")):
        transport = StreamableHttpTransport(to, {"Authorization": f"{scheme} {TOKEN}"})
        assert "find" in (await with_fastmcp(transport, [])).tools


@pytest.mark.parametrize("transport", [HTTP, SSE])
@pytest.mark.parametrize("reference", [TOKEN, None])
async def test_bearer_tokens_through_mcp_remote(
    guarded: Server, node: Node, transport: str, reference: str | None
) -> None:
    """As `ctx install` calls it: for clients that fill in variables, and for those that do not."""
    token = Token("MCP_CTX_TOKEN", reference)
    url = url_of(guarded, "memory", transport)
    called = words(url, transport, {"X-MCP-Readonly": "true"}, token)
    proxy = mcp_remote(
        node,
        url,
        *called[4:],
        **variables(token),
        **({} if reference else {"MCP_CTX_TOKEN": TOKEN}),
    )
    tools = (await with_mcp(proxy, [], LEGACY)).tools
    assert "find" in tools
    assert "store" not in tools


def status_without_token(url: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as refused, urllib.request.urlopen(url):
        pass
    with refused.value as answer:
        return answer.code
