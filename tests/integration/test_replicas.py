"""Two memory servers and two indexers over one Qdrant and one PostgreSQL, as in a cluster."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.corpus import FILES
from tests.support.postgres import execute, sibling
from tests.support.processes import Server, environment, running
from tests.support.repositories import Repository
from tests.support.tool_client import ToolClient

TOKENS = ("one", "two")  # rate limits and sessions go by them
PER_MINUTE = 600  # of one token: a hundred at once
QUERY, PLACE = "exponential backoff with jitter", "src/net/retry.py"
WAIT_SECONDS = 60.0


@dataclass(frozen=True)
class Replicas:
    """Two of each server, and the Qdrant that they share."""

    memory: tuple[Server, Server]
    indexer: tuple[Server, Server]
    qdrant: str

    def client(self, number: int, token: str = "one") -> ToolClient:
        """A client whose requests reach the first or the second of each server."""
        urls = {"memory_http": self.memory[number].memory_http}
        urls |= {"indexer_http": self.indexer[number].indexer_http}
        return ToolClient(Addresses(**urls), token)

    def points(self, collection: str) -> int:
        url = f"{self.qdrant}/collections/{collection}/points/count"
        return int(httpx.post(url, json={"exact": True}).json()["result"]["count"])


@dataclass(frozen=True)
class Addresses:
    memory_http: str
    indexer_http: str


@pytest.fixture(scope="module")
def replicas(
    tmp_path_factory: pytest.TempPathFactory, qdrant_url: str, postgres_server: str
) -> Iterator[Replicas]:
    top, run = tmp_path_factory.mktemp("replicas"), uuid4().hex[:8]
    execute(postgres_server, f"CREATE DATABASE replicas_{run} STRATEGY file_copy")
    shared = {
        "QDRANT_URL": qdrant_url,
        "DATABASE_URL": sibling(postgres_server, f"replicas_{run}"),
        "CTX_AUTH_TOKENS": ",".join(TOKENS),
        "CTX_RATE_LIMIT_PER_MINUTE": str(PER_MINUTE),
        "COLLECTION_NAME": f"codebase-{run}",
        "MEMORY_COLLECTION_NAME": f"memories-{run}",
        "THREADS_COLLECTION_NAME": f"threads-{run}",
        "CONVERSATIONS_COLLECTION_NAME": f"conversations-{run}",
        "CTX_SHARED_INDEX": "1",
    }
    origin = Repository.create(top / "origin" / "shop")
    for name, text in FILES.items():
        origin.write(name, text)
    origin.git("add", "-A")
    origin.git("commit", "-qm", "first")
    with contextlib.ExitStack() as stack:
        started: dict[str, list[Server]] = {"memory": [], "indexer": []}
        for service, servers in started.items():
            for number in range(2):
                clone = top / f"{service}-{number}" / "shop"
                origin.git("clone", "-q", str(origin.root), str(clone))
                more = {"CTX_WORKSPACE": str(clone), "CTX_WATCH": str(int(service == "indexer"))}
                env = environment(top / f"{service}-{number}" / "data", **{**shared, **more})
                process = running(env, "-m", f"ctx_{service}")
                servers.append(stack.enter_context(process))
        yield Replicas(tuple(started["memory"]), tuple(started["indexer"]), qdrant_url)  # type: ignore[arg-type]
    execute(postgres_server, f"DROP DATABASE replicas_{run} WITH (FORCE)")


async def until(check: Any, *arguments: Any) -> Any:
    """Ask again until something true is answered."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not (answer := await check(*arguments)):  # noqa: ASYNC110 - of other processes
            await asyncio.sleep(0.3)
    return answer


async def test_each_indexer_answers_from_its_own_checkout(replicas: Replicas) -> None:
    """One writes at a time; both follow, and the points are there once."""
    collection = replicas.indexer[0].env["COLLECTION_NAME"]

    async def is_indexed(number: int) -> bool:
        failed, said = await replicas.client(number).call(
            "indexer", "exact_search", {"pattern": "jitter"}
        )
        return not failed and PLACE in said

    for number in range(2):
        await until(is_indexed, number)
    alone = replicas.points(collection)
    for number in range(2):
        client = replicas.client(number)
        assert PLACE in await client.done("indexer", "repo_search", query=QUERY)
        assert "files_unchanged" in await client.done("indexer", "qdrant_index_root")
        checkout = Path(replicas.indexer[number].env["CTX_WORKSPACE"])
        (checkout / "later.py").write_text("def added_later() -> int:\n    return 1\n")

    async def is_followed(number: int) -> bool:
        failed, said = await replicas.client(number).call(
            "indexer", "read_code", {"name": "added_later"}
        )
        return not failed and "return 1" in said

    for number in range(2):
        await until(is_followed, number)
    assert replicas.points(collection) == alone + 1


async def test_what_one_memory_server_stores_the_other_finds_once(replicas: Replicas) -> None:
    collection = replicas.memory[0].env["MEMORY_COLLECTION_NAME"]
    texts = [f"The fact number {number} of the replicas." for number in range(20)]
    await asyncio.gather(
        *(
            replicas.client(number % 2).done("memory", "store", information=text)
            for number, text in enumerate(texts)
        )
    )

    async def are_points() -> bool:
        return replicas.points(collection) == len(texts)

    await until(are_points)
    for number in range(2):
        listed = await replicas.client(number).done("memory", "list_memories", limit=100)
        assert all(text in listed for text in texts)
        found = await replicas.client(number).done("memory", "find", query=texts[7], limit=3)
        assert texts[7] in found


async def test_sessions_and_rate_limits_are_those_of_one_replica(replicas: Replicas) -> None:
    """So a proxy keeps a client with one of them; the stateless protocol does not need that."""
    collection = replicas.memory[0].env["MEMORY_COLLECTION_NAME"]
    made = await replicas.client(0).done("memory", "set_session_defaults", collection=collection)
    token = made.split('"session": "')[1].split('"')[0]
    for number, expected in ((0, False), (1, True)):
        arguments = {"session": token, "limit": 1}
        failed, said = await replicas.client(number).call("memory", "list_memories", arguments)
        assert failed is expected, said
    assert "Call set_session_defaults" in said
    burst = PER_MINUTE // 6
    busy, other = replicas.client(0, "two"), replicas.client(1, "two")
    answers = await asyncio.gather(*(busy.call("memory", "ping", {}) for _ in range(2 * burst)))
    refused = [said for failed, said in answers if failed]
    assert refused
    assert all("RATE_LIMIT_ERROR" in said for said in refused)
    assert not (await other.call("memory", "ping", {}))[0]
    assert not (await replicas.client(0).call("memory", "ping", {}))[0]


async def test_what_a_killed_replica_acknowledged_the_other_finds(replicas: Replicas) -> None:
    texts = [f"Acknowledged before the end, {number}." for number in range(10)]
    await asyncio.gather(
        *(replicas.client(0).done("memory", "store", information=text) for text in texts)
    )
    replicas.memory[0].kill()

    async def is_found(text: str) -> bool:
        return text in await replicas.client(1).done("memory", "find", query=text, limit=3)

    for text in texts:
        await until(is_found, text)
