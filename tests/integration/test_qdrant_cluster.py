"""A Qdrant cluster of three nodes: one of them dies, and nothing stops or is lost."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastmcp import Client

from tests.support.corpus import FILES
from tests.support.processes import Server, environment, running
from tests.support.qdrant_cluster import Node, QdrantCluster, qdrant_cluster, wait_until

COLLECTIONS = ("codebase", "memories")
SHARDS, REPLICAS = 3, 2
FILES_WHILE_DYING, STORES_WHILE_DYING, KILL_SECONDS = 20, 8, 0.15
QUERY, PLACE = "exponential backoff with jitter", "src/net/retry.py"


@pytest.fixture(scope="module")
def cluster(qdrant_program: Path) -> Iterator[QdrantCluster]:
    with qdrant_cluster(qdrant_program) as started:
        yield started


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster") / "shop"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def server(cluster: QdrantCluster, workspace: Path) -> Iterator[Server]:
    env = environment(
        workspace.parent / "data",
        CTX_WORKSPACE=str(workspace),
        QDRANT_URL=cluster.nodes[0].url,
        QDRANT_SHARDS=str(SHARDS),
        QDRANT_REPLICAS=str(REPLICAS),
    )
    with running(env) as started:
        yield started


async def call(url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async with Client(url) as client:
        answer = await client.call_tool(tool, arguments, raise_on_error=False)
    body: dict[str, Any] | None = answer.structured_content
    assert body is not None
    assert body.get("ok", True), body
    return body


def shards(cluster: QdrantCluster, name: str) -> list[dict[str, Any]]:
    """Each replica of each shard of a collection, as the first node knows them."""
    url = cluster.nodes[0].url
    aliases = httpx.get(f"{url}/aliases", trust_env=False).json()["result"]["aliases"]
    behind = {each["alias_name"]: each["collection_name"] for each in aliases}
    physical = behind.get(f"{name}@live", name)
    answer = httpx.get(f"{url}/collections/{physical}/cluster", trust_env=False).json()["result"]
    found: list[dict[str, Any]] = [*answer["local_shards"], *answer["remote_shards"]]
    return found


def all_active(cluster: QdrantCluster) -> bool:
    return all(
        shard["state"] == "Active" for name in COLLECTIONS for shard in shards(cluster, name)
    )


async def store(server: Server, number: int) -> None:
    text = f"The invoice of customer {number} is checked by rule {number * 7}."
    stored = await call(server.memory_http, "store", information=text)
    assert "degraded" not in stored, stored


async def keep(server: Server, numbers: Iterable[int]) -> None:
    """Store while a node dies: each is acknowledged, with or without its vectors."""
    for number in numbers:
        text = f"The invoice of customer {number} is checked by rule {number * 7}."
        await call(server.memory_http, "store", information=text)


async def search_until_dead(server: Server, node: Node) -> None:
    """Search until a node is gone, and once more; every search is answered."""
    while True:
        is_last = node.process is None
        found = await call(server.indexer_http, "repo_search", query=QUERY)
        assert found["results"][0]["path"] == PLACE
        if is_last:
            return


async def remembered(server: Server, number: int) -> bool:
    query = f"invoice of customer {number}"
    found = await call(server.memory_http, "find", query=query, limit=20)
    return any(f"customer {number} " in each["information"] for each in found["results"])


async def test_collections_are_sharded_and_replicated(
    cluster: QdrantCluster, server: Server
) -> None:
    indexed = await call(server.indexer_http, "qdrant_index")
    assert indexed["stats"]["files_processed"] == len(FILES)
    for number in range(10):
        await store(server, number)
    for name in COLLECTIONS:
        assert len(shards(cluster, name)) == SHARDS * REPLICAS, name
    found = await call(server.indexer_http, "repo_search", query=QUERY)
    assert found["results"][0]["path"] == PLACE


async def test_one_node_after_the_other_dies(
    cluster: QdrantCluster, server: Server, workspace: Path
) -> None:
    number = 10
    for node in cluster.nodes[1:]:
        name = f"retry_of_node_{node.number}"
        for part in range(FILES_WHILE_DYING):
            source = f"def {name}_{part}(call):\n    return call()\n"
            (workspace / f"{name}_{part}.py").write_text(source)
        dying = range(number, number := number + STORES_WHILE_DYING)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(search_until_dead(server, node))
            tasks.create_task(keep(server, dying))
            tasks.create_task(call(server.indexer_http, "qdrant_index"))
            await asyncio.sleep(KILL_SECONDS)
            await asyncio.to_thread(node.kill)
        await call(server.indexer_http, "qdrant_index")
        found = await call(server.indexer_http, "repo_search", query=QUERY)
        assert found["results"][0]["path"] == PLACE
        (workspace / f"{name}.py").write_text(f"def {name}(call):\n    return call()\n")
        await call(server.indexer_http, "qdrant_index")
        new = await call(server.indexer_http, "repo_search", query=name)
        assert new["results"][0]["path"] == f"{name}.py"
        for _ in range(5):
            await store(server, number)
            number += 1
        cluster.start(node)
        wait_until(
            lambda: all_active(cluster),
            lambda: str([shards(cluster, each) for each in COLLECTIONS]),
        )
    lost = [each for each in range(number) if not await remembered(server, each)]
    assert lost == []
