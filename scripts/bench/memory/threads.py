"""Measures the thread tools over many entries: storing, and each search, with filters and without.

    .venv/bin/python -m scripts.bench.memory.threads --entries 100000

A server of its own is filled over MCP and asked over MCP; then the same data is asked in process,
which leaves out HTTP and MCP. SQLite and the embedded Qdrant, or `--database-url` and
`--qdrant-url`. Prints one JSON object. Wall times depend on the machine's load; CPU times hardly
do. `--keep FOLDER` leaves the data for the next run, which then stores nothing anew. With SQLite it
also reports how many of exact BM25's first ten the words of a hybrid search find.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import re
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

from fastmcp import Client

from ctx_core.engine.engine import open_engine
from ctx_core.settings import Settings
from ctx_memory.records.fulltext.query import TextMode, parse
from ctx_memory.records.fulltext.sqlite import INDEX, to_fts5
from ctx_memory.service import open_memory
from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit, percentiles
from scripts.bench.servers import Server, environment, running
from scripts.bench.usage import cpu_seconds, resident_mb

SEED = 11
BATCH = 100
SINGLE_STORES = 200
CALLS = 150
WARM_UP = 30  # machines put aside memory that was not used for a while
THREADS = 500
COMPARED = 50  # questions whose exact answer is worked out, a tenth of a second each
FIRST = 10
SERVER = ("-m", "ctx_memory", "--transports", "http")

STATUSES = ("open", "active", "blocked", "done", "archived")
PROJECTS = [f"project-{n}" for n in range(50)]
AGENTS = [f"agent-{n}" for n in range(20)]
REVIEWERS = [f"reviewer-{n}" for n in range(200)]
TAGS = [f"tag-{n}" for n in range(100)]
SUBJECTS = (
    "the payment queue,the login page,the nightly import,the search index,the billing report,"
    "the mobile client,the retry policy,the cache of sessions,the export to CSV,the audit log,"
    "the image pipeline,the rate limiter,the schema migration,the mail relay,the feature flag"
).split(",")
VERBS = (
    "times out under load,loses rows after a restart,was rewritten last week,needs an owner,"
    "fails on empty input,is slower than before,now runs twice a day,waits for a decision,"
    "was reverted,passes all tests again,leaks connections,rejects valid tokens"
).split(",")


def sentences() -> list[str]:
    """English prose that every Python has: its language reference."""
    text = " ".join(" ".join(topic.split()) for topic in topics.values())
    found = re.split(r"(?<=[.!?])\s+", text)
    return sorted({each for each in found if 30 < len(each) < 300})


def texts(chance: random.Random) -> Iterator[str]:
    """Mostly a few sentences, sometimes a page; about 450 characters on average."""
    pool = sentences()
    number = 0
    while True:
        number += 1
        length = chance.choices((1, 2, 4, 8, 20), (30, 35, 20, 12, 3))[0]
        head = f"Note {number}: {chance.choice(SUBJECTS)} {chance.choice(VERBS)}."
        yield " ".join([head, *chance.choices(pool, k=length)])


def entries(chance: random.Random) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(texts(chance)):
        yield {
            "thread_id": f"thread-{chance.randrange(THREADS)}",
            "source": chance.choice(("user", "agent")),
            "text": text,
            "tags": chance.sample(TAGS, k=chance.randrange(4)),
            "metadata": {
                "status": chance.choice(STATUSES),
                "project": chance.choice(PROJECTS),
                "agent_name": chance.choice(AGENTS),
                "task_name": f"task {number % 2000}",
                "priority": chance.randrange(10),
                "reviewer": chance.choice(REVIEWERS),
                "cost": {"tokens": chance.randrange(100_000)},
            },
        }


def questions(chance: random.Random) -> Iterator[str]:
    """Questions as agents ask them: a subject, what happened, a word or two of the prose."""
    pool = sentences()
    while True:
        words = chance.choice(pool).split()
        start = chance.randrange(max(1, len(words) - 3))
        yield " ".join([chance.choice(SUBJECTS), chance.choice(VERBS), *words[start : start + 3]])


Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]

# What is measured: a name, the tool, and what it is asked beside the query.
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("browse", "search_context", {}),
    ("browse, thread", "search_context", {"thread_id": "thread-7"}),
    ("browse, tags", "search_context", {"tags": ["tag-3", "tag-4"]}),
    ("browse, indexed metadata", "search_context", {"metadata": {"project": "project-7"}}),
    ("browse, other metadata", "search_context", {"metadata": {"reviewer": "reviewer-7"}}),
    (
        "browse, rare other metadata",
        "search_context",
        {"metadata_filters": [{"key": "cost.tokens", "operator": "lt", "value": 20}]},
    ),
    ("words", "fts_search_context", {}),
    ("words, indexed metadata", "fts_search_context", {"metadata": {"project": "project-7"}}),
    ("meaning", "semantic_search_context", {}),
    ("meaning, thread", "semantic_search_context", {"thread_id": "thread-7"}),
    (
        "meaning, indexed metadata",
        "semantic_search_context",
        {"metadata": {"project": "project-7"}},
    ),
    (
        "meaning, other metadata",
        "semantic_search_context",
        {"metadata": {"reviewer": "reviewer-7"}},
    ),
    ("hybrid", "hybrid_search_context", {}),
    ("hybrid, thread", "hybrid_search_context", {"thread_id": "thread-7"}),
    ("hybrid, indexed metadata", "hybrid_search_context", {"metadata": {"project": "project-7"}}),
    ("hybrid, other metadata", "hybrid_search_context", {"metadata": {"reviewer": "reviewer-7"}}),
]


async def timed(call: Awaitable[Any]) -> float:
    begun = time.perf_counter()
    await call
    return time.perf_counter() - begun


async def fill(server: Server, count: int) -> dict[str, Any]:
    made = entries(random.Random(SEED))
    async with Client(server.memory_http) as client:
        begun, cpu = time.perf_counter(), cpu_seconds(server.process.pid)
        taken: list[float] = []
        while batch := list(islice(made, min(BATCH, count - len(taken) * BATCH))):
            call = client.call_tool("store_context_batch", {"entries": batch})
            taken.append(await timed(call))
        seconds = time.perf_counter() - begun
        spent = cpu_seconds(server.process.pid) - cpu
        singles = [
            await timed(client.call_tool("store_context", entry))
            for entry in islice(made, SINGLE_STORES)
        ]
    return {
        "batch_of_100_ms": percentiles(taken),
        "batched_entries_a_second": round(count / seconds),
        "server_cpu_ms_an_entry": round(spent / count * 1000, 2),
        "single_ms": percentiles(singles),
    }


async def measure(ask: Ask, cpu: Callable[[], float], calls: int, only: str) -> dict[str, Any]:
    report = {}
    for name, tool, arguments in (case for case in CASES if case[0].startswith(only)):
        asked = questions(random.Random(SEED + 1))
        taken, results = [], 0
        before = 0.0
        for number in range(WARM_UP + calls):
            if number == WARM_UP:
                before = cpu()
            query = {} if tool == "search_context" else {"query": next(asked)}
            if tool == "fts_search_context":
                query = {"query": " ".join(query["query"].split()[-2:])}
            begun = time.perf_counter()
            body = await ask(tool, {**query, **arguments})
            if number >= WARM_UP:
                taken.append(time.perf_counter() - begun)
                results += body["count"]
        report[name] = {
            **percentiles(taken),
            "cpu_ms": round((cpu() - before) / calls * 1000, 1),
            "results": round(results / calls, 1),
        }
    return report


async def over_http(server: Server, calls: int, only: str) -> dict[str, Any]:
    async with Client(server.memory_http) as client:

        async def ask(tool: str, arguments: dict[str, Any]) -> Any:
            return (await client.call_tool(tool, arguments)).structured_content

        return await measure(ask, lambda: cpu_seconds(server.process.pid), calls, only)


async def in_process(settings: Settings, calls: int, only: str) -> dict[str, Any]:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        tools = {tool.name: tool.run for tool in memory.service.tools}

        async def ask(tool: str, arguments: dict[str, Any]) -> Any:
            return await tools[tool](**arguments)

        return await measure(ask, time.process_time, calls, only)


async def agreement(settings: Settings) -> float:
    """The share of exact BM25's first ten among the first ten by the words of a hybrid search."""
    database = sqlite3.connect(f"file:{settings.data_dir / 'records.sqlite'}?mode=ro", uri=True)
    exact = f"SELECT rowid FROM {INDEX} WHERE {INDEX} MATCH ? ORDER BY bm25({INDEX}) LIMIT {FIRST}"
    asked, shared = questions(random.Random(SEED + 1)), 0
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        tools = {tool.name: tool.run for tool in memory.service.tools}
        for query in islice(asked, COMPARED):
            node, _ = parse(query, TextMode.MATCH, settings.fts_language, any_word=True)
            assert node is not None, "every question has words"
            best = {id_ for (id_,) in database.execute(exact, [to_fts5(node)[0]])}
            body = await tools["hybrid_search_context"](query, FIRST, search_modes=["fts"])
            shared += len(best & {hit["id"] for hit in body["results"]})
    database.close()
    return round(shared / COMPARED / FIRST, 3)


def wait_until_idle(server: Server) -> None:
    """Wait until the server has written the summaries of what was stored."""
    last = cpu_seconds(server.process.pid)
    while True:
        time.sleep(5)
        now = cpu_seconds(server.process.pid)
        if now - last < 0.5:
            return
        last = now


def sizes(data: Path) -> dict[str, float]:
    names = {"records": "records.sqlite*", "vectors": "vectors/**/*"}
    return {
        name: round(sum(f.stat().st_size for f in data.glob(p) if f.is_file()) / 2**20, 1)
        for name, p in names.items()
    }


def options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--only", default="", help="cases whose name begins so, such as hybrid")
    parser.add_argument("--database-url", default="")
    parser.add_argument("--qdrant-url", default="")
    parser.add_argument("--keep", type=Path, help="folder for the data, kept and used again")
    return parser.parse_args()


def run(given: argparse.Namespace, data: Path) -> dict[str, Any]:
    chosen = {"DATABASE_URL": given.database_url, "QDRANT_URL": given.qdrant_url}
    named = {name: value for name, value in chosen.items() if value}
    report: dict[str, Any] = {
        "commit": commit(),
        "python": platform.python_version(),
        "entries": given.entries,
        "load_before": os.getloadavg(),
    }
    is_filled = data.exists()
    with running(environment(data, **named), *SERVER) as server:
        if not is_filled:
            report["store"] = asyncio.run(fill(server, given.entries))
        wait_until_idle(server)
        report["http_ms"] = asyncio.run(over_http(server, given.calls, given.only))
        report["memory_mb"] = resident_mb(server.process.pid)
    settings = Settings(
        data_dir=data,
        database_url=given.database_url or None,
        qdrant_url=given.qdrant_url or None,
    )
    report["in_process_ms"] = asyncio.run(in_process(settings, given.calls, given.only))
    if not given.database_url:
        report["exact_bm25_found"] = asyncio.run(agreement(settings))
    report["size_mb"] = sizes(data)
    report["load_after"] = os.getloadavg()
    return report


def main() -> None:
    given = options()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        print(json.dumps(run(given, given.keep / "data"), indent=2))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(run(given, Path(folder) / "data"), indent=2))


if __name__ == "__main__":
    main()
