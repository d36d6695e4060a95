"""A short run of the fault harness: every kind of fault that this machine allows, and its own eyes.

`scripts.bench.faults` does many of them; docs/benchmarks.md has its report.
"""

import asyncio
import os
import random
import time
from collections.abc import Iterator

import httpx
import pytest

from ctx_core.serving.mcp.client import call_tool
from scripts.bench.faults.cycle import AGREEMENT_SECONDS, MOST, POLL_SECONDS, Bench, excesses
from scripts.bench.faults.entries import inspect_entries, scroll
from scripts.bench.faults.fault import Fault, faults
from scripts.bench.faults.index import inspect_index
from scripts.bench.faults.program import Usage
from scripts.bench.faults.projected import inspect_points
from scripts.bench.faults.world import (
    INDEXER,
    MEMORY_SQLITE,
    POSTGRES,
    QDRANT,
    World,
    collection,
    running_world,
)
from scripts.bench.fixtures.postgres import Unobtainable as NoPostgres
from scripts.bench.fixtures.qdrant import Unobtainable as NoQdrant
from tests.support.qdrant import memory

SEED = 21
# Of each kind one, on the program where it hurts; others are left to the long run.
CHOSEN = [
    f"kill {QDRANT}",
    f"pause {POSTGRES}",
    f"kill {MEMORY_SQLITE}",
    f"full disk of {MEMORY_SQLITE}",
    f"power loss of {MEMORY_SQLITE}",
    f"power loss of {INDEXER}",
    f"clock jump and kill of {MEMORY_SQLITE}",
    f"slow fsync of {POSTGRES}",
]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    try:
        with running_world(memory()) as started:
            yield started
    except (NoPostgres, NoQdrant) as reason:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no servers to break: {reason}")


def chosen(world: World) -> list[Fault]:
    known = {str(each): each for each in faults(world, "")}
    return [known[name] for name in CHOSEN if name in known]


def test_what_was_acknowledged_survives_each_kind_of_fault(world: World) -> None:
    bench = Bench(world, random.Random(SEED))
    tried = chosen(world)
    assert len(tried) >= 3, "kills and pauses need no rights"

    async def run() -> dict[str, list[str]]:
        outcomes = [await bench.run(fault) for fault in tried]
        assert sum(each.writes for each in outcomes) > 10 * len(tried), "hardly any load"
        return {each.fault: each.broken for each in outcomes}

    assert asyncio.run(run()) == {str(fault): [] for fault in tried}

    name = collection(MEMORY_SQLITE, "memory")
    [point, *_] = asyncio.run(scroll(world, name, ["revision"]))
    url = f"{world.qdrant_url}/collections/{name}/points/delete?wait=true"
    httpx.post(url, json={"points": [point["id"]]}, trust_env=False).raise_for_status()
    found = asyncio.run(inspect_entries(world, MEMORY_SQLITE, bench.ledgers[MEMORY_SQLITE]))
    assert len(found) == 1
    assert "1 missing points of memory" in found[0], "the harness sees what is gone"


def test_the_harness_sees_another_vector_of_code(world: World) -> None:
    await_index(world)
    name = collection(INDEXER, "code")
    [point, *_] = asyncio.run(scroll(world, name, with_vector=True))
    dense, terms = point["vector"]["dense"], point["vector"]["bm25"]
    other_terms = {**terms, "values": [2 * each for each in terms["values"]]}

    assert "1 points have another dense vector" in difference(
        world, point["id"], {"dense": [-each for each in dense]}
    )
    assert "1 points have other terms" in difference(
        world, point["id"], {"dense": dense, "bm25": other_terms}
    )
    assert difference(world, point["id"], {"bm25": terms}) == ""


def test_the_harness_sees_another_vector_of_a_memory(world: World) -> None:
    given = {"information": "Leases are renewed by their owner."}
    stored = asyncio.run(call_tool(world.mcp(MEMORY_SQLITE), "store", given))["id"]
    name = collection(MEMORY_SQLITE, "memory")
    points = {each["id"]: each for each in asyncio.run(scroll(world, name, with_vector=True))}
    dense, terms = points[stored]["vector"]["dense"], points[stored]["vector"]["bm25"]
    other_terms = {**terms, "values": [2 * each for each in terms["values"]]}

    def found(vector: dict[str, object]) -> str:
        change(world, name, stored, vector)
        return "".join(asyncio.run(inspect_points(world, MEMORY_SQLITE)))

    assert "1 points of memory have another dense vector" in found({"dense": dense[::-1]})
    assert "1 points of memory have other terms" in found({"dense": dense, "bm25": other_terms})
    assert stored not in found({"bm25": terms})


def test_the_harness_bounds_memory_and_files() -> None:
    most = MOST[INDEXER]
    assert excesses({INDEXER: most}) == []
    assert len(excesses({INDEXER: Usage(most.megabytes + 1, most.files)})) == 1
    assert len(excesses({INDEXER: Usage(most.megabytes, most.files + 1)})) == 1


def await_index(world: World) -> None:
    """Write one file more and wait until the index has it."""
    (world.project(INDEXER) / "seen.py").write_text("def seen(value):\n    return value\n")
    deadline = time.monotonic() + AGREEMENT_SECONDS
    while found := asyncio.run(inspect_index(world)):
        assert time.monotonic() < deadline, found
        time.sleep(POLL_SECONDS)


def difference(world: World, id_: str, vector: dict[str, object]) -> str:
    """Change vectors of a point of code and return what the harness then finds."""
    change(world, collection(INDEXER, "code"), id_, vector)
    return "".join(asyncio.run(inspect_index(world)))


def change(world: World, name: str, id_: str, vector: dict[str, object]) -> None:
    """Change vectors of a point behind the back of our servers."""
    url = f"{world.qdrant_url}/collections/{name}/points/vectors?wait=true"
    changed = {"points": [{"id": id_, "vector": vector}]}
    httpx.put(url, json=changed, trust_env=False).raise_for_status()
