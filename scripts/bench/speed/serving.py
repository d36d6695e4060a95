"""Measures both servers as a user meets them: start, store, find alone, find from many clients.

    .venv/bin/python -m scripts.bench.speed.serving --seconds 60 --clients 16

Prints one JSON object. Wall times depend on the machine's load; CPU seconds hardly do.
"""

import asyncio
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fastmcp import Client

from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit, percentiles
from scripts.bench.servers import Server, environment, running
from scripts.bench.usage import cpu_seconds, resident_mb

STARTS = 5
MEMORIES = 1000
SINGLE_CALLS = 200
TOPICS = ("caching", "retries", "parsing", "database pools", "logging", "error handling")


def starts(data: Path) -> dict[str, Any]:
    """Start to ready, warm: the data folder and the page cache are."""
    walls, cpus = [], []
    for _ in range(STARTS):
        begun = time.perf_counter()
        with running(environment(data)) as server:
            walls.append(time.perf_counter() - begun)
            cpus.append(cpu_seconds(server.process.pid))
    return {"wall_s": [round(w, 2) for w in walls], "cpu_s": round(statistics.median(cpus), 2)}


async def timed(call: Callable[[], Awaitable[Any]]) -> float:
    begun = time.perf_counter()
    await call()
    return time.perf_counter() - begun


async def one_at_a_time(server: Server) -> dict[str, Any]:
    async with Client(server.memory_http) as client:

        async def store(number: int) -> None:
            topic = TOPICS[number % len(TOPICS)]
            text = f"Note {number} about {topic}: prefer the simple way, measure, then decide."
            await client.call_tool("store", {"information": text, "metadata": {"topic": topic}})

        async def find() -> None:
            await client.call_tool("find", {"query": "how do we handle retries", "limit": 10})

        stores = [await timed(lambda n=n: store(n)) for n in range(MEMORIES)]  # type: ignore[misc]
        before = cpu_seconds(server.process.pid)
        finds = [await timed(find) for _ in range(SINGLE_CALLS)]
        spent = cpu_seconds(server.process.pid) - before
    return {
        "store_ms": percentiles(stores),
        "find_ms": percentiles(finds),
        "find_server_cpu_ms": round(spent / SINGLE_CALLS * 1000, 2),
    }


async def many_clients(url: str, clients: int, seconds: float) -> dict[str, Any]:
    async def one() -> tuple[list[float], int]:
        taken: list[float] = []
        errors = 0
        deadline = time.perf_counter() + seconds
        async with Client(url) as client:
            while (begun := time.perf_counter()) < deadline:
                query = {"query": f"note about {TOPICS[len(taken) % len(TOPICS)]}"}
                answer = await client.call_tool("find", query, raise_on_error=False)
                body = answer.structured_content or {}
                errors += answer.is_error or not body.get("results")
                taken.append(time.perf_counter() - begun)
        return taken, errors

    outcomes = await asyncio.gather(*(one() for _ in range(clients)))
    taken = [t for times, _ in outcomes for t in times]
    return {
        "clients": clients,
        "seconds": seconds,
        "calls": len(taken),
        "errors": sum(errors for _, errors in outcomes),
        "latency_ms": percentiles(taken),
    }


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with running(environment(data)):
            pass
        report: dict[str, Any] = {"commit": commit(), "python": platform.python_version()}
        report["start"] = starts(data)
        with running(environment(data)) as server:
            report["single"] = asyncio.run(one_at_a_time(server))
            report["many"] = asyncio.run(
                many_clients(server.memory_http, options.clients, options.seconds)
            )
            report["memory_mb"] = resident_mb(server.process.pid)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
