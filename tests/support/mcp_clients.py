"""How each client talks to a server: one list of calls in, the same report out."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import fastmcp
import mcp
from fastmcp.client.transports import ClientTransport
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.support.node import Node
from tests.support.processes import Server

Call = tuple[str, dict[str, Any]]
Calls = Sequence[Call]
LEGACY, AUTO, MODERN = "legacy", "auto", "modern"
HTTP, SSE = "http", "sse"


@dataclass(frozen=True)
class Answer:
    """What a tool answered; the text is the same body as JSON."""

    is_error: bool
    body: Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class Report:
    """What a client saw of a server."""

    protocol: str
    tools: Sequence[str]
    answers: Sequence[Answer]


Talk = Callable[[str, Calls], Awaitable[Report]]
"""Connects to a URL, lists the tools and makes the calls, all on one connection."""


# --- Python ----------------------------------------------------------------------------------


async def with_fastmcp(to: str | ClientTransport, calls: Calls, mode: str = AUTO) -> Report:
    async with fastmcp.Client(to, mode=mode) as client:
        tools = [tool.name for tool in await client.list_tools()]
        answers = [_answer(await client.call_tool_mcp(*call)) for call in calls]
        return Report(str(client.session.protocol_version), tools, answers)


async def with_mcp(to: str | StdioServerParameters | Any, calls: Calls, mode: str = AUTO) -> Report:
    async with mcp.Client(to, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        answers = [_answer(await client.call_tool(*call)) for call in calls]
        return Report(client.protocol_version, tools, answers)


async def with_session(streams: Any, calls: Calls) -> Report:
    """The handshake as most Python clients do it."""
    async with streams as (read, write), mcp.ClientSession(read, write) as session:
        agreed = await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        answers = [_answer(await session.call_tool(*call)) for call in calls]
        return Report(agreed.protocol_version, tools, answers)


def session_over_http(url: str, calls: Calls) -> Awaitable[Report]:
    return with_session(streamable_http_client(url), calls)


def session_over_sse(url: str, calls: Calls) -> Awaitable[Report]:
    return with_session(sse_client(url), calls)


def session_over_stdio(command: StdioServerParameters, calls: Calls) -> Awaitable[Report]:
    return with_session(stdio_client(command), calls)


def mcp_over_sse(url: str, calls: Calls) -> Awaitable[Report]:
    return with_mcp(sse_client(url), calls, LEGACY)


def _answer(result: CallToolResult) -> Answer:
    [content] = result.content
    assert content.type == "text"
    return Answer(result.is_error, result.structured_content or {}, content.text)


# --- Node ------------------------------------------------------------------------------------


async def with_script(node: Node, script: str, arguments: Iterable[str], calls: Calls) -> Report:
    """One of the scripts in `node/`."""
    given = json.dumps([{"name": name, "arguments": values} for name, values in calls])
    seen = json.loads(await node.run(node.script(script), *arguments, given=given))
    return Report(seen["protocol"], seen["tools"], [_wire(answer) for answer in seen["answers"]])


async def with_inspector(node: Node, url: str, calls: Calls, era: str) -> Report:
    """A process, and so a connection, for each request."""

    async def ask(*arguments: str) -> Any:
        options = ("--protocol-era", era, "--format", "json", "--quiet")
        inspector = node.package("mcp-inspector")
        said = await node.run(inspector, "--cli", url, *options, *arguments, may_fail=True)
        return json.loads(said)["result"]

    listed = await ask("--method", "tools/list")
    answers = []
    for name, given in calls:
        called = ("--method", "tools/call", "--tool-name", name)
        answers.append(_wire(await ask(*called, "--tool-args-json", json.dumps(given))))
    return Report(era, [tool["name"] for tool in listed["tools"]], answers)


def mcp_remote(node: Node, url: str, *options: str, **env: str) -> StdioServerParameters:
    """The proxy that lets clients which only start programs reach a URL."""
    return StdioServerParameters(
        command=str(node.program),
        args=[node.package("mcp-remote"), url, "--allow-http", "--silent", *options],
        env={**node.env, **env},
    )


def _wire(result: Mapping[str, Any]) -> Answer:
    [content] = result["content"]
    return Answer(result["isError"], result["structuredContent"], content["text"])


# --- what tests ask about it --------------------------------------------------------------------


def url_of(server: Server, service: str, transport: str) -> str:
    return str(getattr(server, f"{service}_{transport}"))


def fresh(prefix: str) -> str:
    return f"{prefix}{uuid4().hex[:12]}"


def found_ids(answer: Answer) -> list[str]:
    return [hit["id"] for hit in answer.body["results"]]


async def found_in(server: Server, tag: str) -> list[str]:
    """The memories with this tag in the default collection, as a new connection sees them."""
    report = await with_fastmcp(server.memory_http, [("find", {"query": tag, "tags": tag})])
    return found_ids(report.answers[0])
