"""`set_session_defaults`: by connection where there is one, by token everywhere."""

import functools

import pytest

from tests.support.mcp_clients import (
    HTTP,
    LEGACY,
    SSE,
    Calls,
    Report,
    Talk,
    found_ids,
    found_in,
    fresh,
    session_over_http,
    url_of,
    with_fastmcp,
    with_mcp,
    with_script,
)
from tests.support.node import Node
from tests.support.processes import Server


async def new_collection(server: Server) -> str:
    """Make a collection by storing something there."""
    name = fresh("team-")
    first = {"information": "The first.", "collection": name}
    await with_fastmcp(server.memory_http, [("store", first)])
    return name


def storing_in_its_own(collection: str, word: str, session: dict[str, str]) -> Calls:
    """Choose a collection, store there and look there."""
    memory = {"information": f"Apart: {word}.", "metadata": {"tags": [word]}}
    return [
        ("set_session_defaults", {"collection": collection} | session),
        ("store", memory | session),
        ("find", {"query": word, "tags": word} | session),
    ]


async def check_separation(report: Report, applied: str, word: str, server: Server) -> str:
    """Found where it was stored and not in the default collection; returns the token."""
    chosen, stored, looked = report.answers
    assert chosen.body["applied"] == applied
    assert found_ids(looked) == [stored.body["id"]]
    assert await found_in(server, word) == []
    return str(chosen.body["session"])


@pytest.mark.parametrize(
    ("talk", "transport"),
    [
        pytest.param(functools.partial(with_fastmcp, mode=LEGACY), HTTP, id="http"),
        pytest.param(functools.partial(with_fastmcp, mode=LEGACY), SSE, id="sse"),
        pytest.param(session_over_http, HTTP, id="mcp-session-http"),
    ],
)
async def test_defaults_last_as_long_as_a_connection(
    server: Server, talk: Talk, transport: str
) -> None:
    word, collection = fresh("word"), await new_collection(server)
    url = url_of(server, "memory", transport)
    report = await talk(url, storing_in_its_own(collection, word, session={}))
    token = await check_separation(report, "connection", word, server)

    again = [("set_session_defaults", {"session": token}), ("find", {"query": word, "tags": word})]
    chosen, looked = (await talk(url, again)).answers
    assert chosen.body["defaults"] == {"collection": collection}
    assert found_ids(looked) == [report.answers[1].body["id"]]


async def test_defaults_of_the_typescript_sdk(server: Server, node: Node) -> None:
    word = fresh("word")
    calls = storing_in_its_own(await new_collection(server), word, session={})
    report = await with_script(node, "sdk1.mjs", (HTTP, server.memory_http), calls)
    await check_separation(report, "connection", word, server)


async def test_defaults_go_by_token_where_there_is_no_connection(server: Server) -> None:
    word, collection = fresh("word"), await new_collection(server)
    url = server.memory_http
    begun = await with_fastmcp(url, [("set_session_defaults", {"collection": collection})])
    token = {"session": str(begun.answers[0].body["session"])}
    report = await with_fastmcp(url, storing_in_its_own(collection, word, token))
    assert await check_separation(report, "session", word, server) == token["session"]

    other = await with_mcp(url, [("find", {"query": word, "tags": word} | token)])
    assert found_ids(other.answers[0]) == [report.answers[1].body["id"]]


async def test_a_stateless_call_without_the_token_has_no_defaults(server: Server) -> None:
    word = fresh("word")
    calls = storing_in_its_own(await new_collection(server), word, session={})
    _, stored, _ = (await with_fastmcp(server.memory_http, calls)).answers
    assert await found_in(server, word) == [stored.body["id"]]


async def test_an_unknown_token_is_refused(server: Server) -> None:
    report = await with_fastmcp(server.memory_http, [("find", {"query": "x", "session": "gone"})])
    [refused] = report.answers
    assert refused.is_error
    assert refused.body["error_code"] == "VALIDATION_ERROR"
    assert refused.body["details"]["field"] == "session"
