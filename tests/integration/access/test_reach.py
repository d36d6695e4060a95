"""A token reaches what it names and nothing else, by every tool of both servers and by REST."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from ctx_core.access.token_file import changed_tokens
from tests.integration.access.calls import CALLS, OUT_OF_REACH, SECRET
from tests.integration.access.conftest import FULL, Scene
from tests.integration.test_guard import ACCEPT, INITIALIZE


@pytest.mark.parametrize("service", ["indexer", "memory"])
async def test_no_tool_shows_what_is_out_of_reach(place: Scene, service: str) -> None:
    every = await place.client(FULL).tools(service)
    assert every == CALLS[service].keys(), "a tool without a call here is a tool nobody attacked"
    client = place.client("limited")
    refused = {"qdrant_prune", "rebuild_memories", "memory_store", "list_threads", "ping"}
    assert not await client.tools(service) & refused
    for name, calls in CALLS[service].items():
        for given in calls:
            arguments = json.loads(json.dumps(given).replace('"ID"', f'"{place.memory}"'))
            _, said = await client.call(service, name, arguments)
            for value in arguments.values():  # what the caller itself has said
                said = said.replace(str(value), "")
            assert SECRET not in said, (name, arguments, said)
            assert f"/{OUT_OF_REACH}" not in said, (name, arguments, said)


async def test_what_is_in_reach_is_served(place: Scene) -> None:
    client, project = place.client("limited"), str(place.workspaces / "open")
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "apple_of_code": [
            ("repo_search", {"query": "apple"}),
            ("repo_search", {"query": "apple", "repo": "*"}),
            ("exact_search", {"pattern": "apple"}),
            ("read_code", {"name": "apple_of_code"}),
            ("collection_map", {"include_samples": True}),
        ],
        "The first apple": [("search_commits_for", {"query": "apple"})],
        project: [("list_workspaces", {}), ("workspace_info", {"workspace_path": project})],
        "files_unchanged": [("qdrant_index", {"subdir": project})],
    }
    for expected, calls in found.items():
        for name, arguments in calls:
            said = await client.done("indexer", name, **arguments)
            assert expected in said, (name, said)
    await client.done("memory", "store", information="another apple", collection="team")
    said = await client.done("memory", "context_search", query="apple", project=project)
    assert "apple known" in said


@pytest.mark.parametrize(
    ("scope", "name", "arguments", "needed"),
    [
        ("read", "store", {"information": "no"}, "write"),
        ("read", "delete_memory", {"memory_ids": "x"}, "write"),
        ("write", "rebuild_memories", {}, "admin"),
        ("read", "qdrant_index_root", {}, "write"),
        ("write", "qdrant_index_root", {"recreate": True}, "admin"),
        ("write", "qdrant_prune", {}, "admin"),
    ],
)
async def test_a_scope_that_is_too_small_is_named(
    place: Scene, scope: str, name: str, arguments: dict[str, Any], needed: str
) -> None:
    service = "indexer" if name.startswith("qdrant") else "memory"
    client = place.client(scope)
    if not arguments.get("recreate"):
        assert name not in await client.tools(service)
    failed, said = await client.call(service, name, arguments)
    assert failed
    assert "NOT_PERMITTED" in said
    assert f"scope {needed}" in said


async def test_resources_prompts_and_instructions_say_nothing_of_another_project(
    place: Scene,
) -> None:
    full, limited = place.client(FULL), place.client("project")
    assert OUT_OF_REACH in str(await full.send("memory", "server/discover", {}))
    assert OUT_OF_REACH not in str(await limited.send("memory", "server/discover", {}))
    uris = ("context://knowledge", f"context://knowledge/{SECRET}", "context://summary")
    for uri in uris:
        assert SECRET in str(await full.send("memory", "resources/read", {"uri": uri}))
        answer = await limited.send("memory", "resources/read", {"uri": uri})
        assert "not among what the token reaches" in answer["error"]["message"]
    answer = await limited.send("memory", "prompts/get", {"name": "context_onboarding"})
    assert "not among what the token reaches" in answer["error"]["message"]


async def test_rest_and_health_ask_the_same_tokens(place: Scene) -> None:
    read, limited, talks = (
        {"Authorization": f"Bearer {place.tokens[name]}"}
        for name in ("read", "team", "conversations")
    )
    rest, health = place.server.rest, place.server.indexer_health
    async with httpx.AsyncClient() as client:
        statuses = {}
        for name, headers in {"none": {}, "team": limited, "read": read, "talks": talks}.items():
            answer = await client.get(f"{rest}/contexts", headers=headers)
            statuses[name] = answer.status_code
            assert (SECRET in answer.text or "talk" in answer.text) is (answer.status_code == 200)
        assert statuses == {"none": 401, "team": 403, "read": 200, "talks": 200}
        asked = {"action": "list", "contextId": "x"}
        posted = await client.post(f"{rest}/tools/context_memory", json=asked, headers=read)
        assert posted.status_code == 403
        assert "scope write" in posted.text
        for headers, is_detailed in (({}, False), (limited, False), (read, True)):
            body = (await client.get(f"{health}/readyz", headers=headers)).json()
            assert body["ok"]
            assert ("advice" in body) is is_detailed


LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


async def test_a_session_and_its_stream_end_with_the_token(place: Scene) -> None:
    """A session answers no other token, not even one of the same scope."""
    url = place.server.memory_http
    async with httpx.AsyncClient(timeout=20) as client:

        async def post(token: str, content: dict[str, Any], **more: str) -> httpx.Response:
            given = {"Authorization": f"Bearer {place.tokens[token]}", **ACCEPT, **more}
            return await client.post(url, json=content, headers=given)

        session = {"mcp-session-id": (await post("revoked", INITIALIZE)).headers["mcp-session-id"]}
        assert (await post("revoked", LISTING, **session)).status_code == 200
        assert (await post("another", LISTING, **session)).status_code in (403, 404)

        headers = {"Authorization": f"Bearer {place.tokens['revoked']}", **ACCEPT}
        streams = [
            client.stream("GET", place.server.memory_sse, headers=headers),
            client.stream("GET", url, headers={**headers, **session}),
        ]
        async with streams[0] as sse, streams[1] as events:
            assert (sse.status_code, events.status_code) == (200, 200)
            with changed_tokens(Path(place.server.env["CTX_DATA_DIR"]) / "tokens.json") as tokens:
                tokens[:] = [each for each in tokens if each.name != "revoked"]
            for stream in (sse, events):  # they end by themselves
                async with asyncio.timeout(15):
                    async for _ in stream.aiter_raw():
                        pass
        assert (await post("revoked", LISTING, **session)).status_code == 401
        assert (await post("another", LISTING)).status_code != 401
