"""Times starts and searches of one corpus, in process and over HTTP."""

import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fastmcp import Client

from ctx_core.engine.engine import open_engine
from ctx_core.settings import Settings
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.view.view import View
from scripts.bench.corpora.sized import LIMIT, Corpus
from scripts.bench.figures import percentiles, with_load
from scripts.bench.servers import environment, running
from scripts.bench.usage import cpu_seconds, process_tree, resident_mb

COLLECTION = "bench"
STARTS = 3


def started(corpus: Corpus) -> dict[str, Any]:
    """`ctx up` to ready with the index there; its files are in the page cache."""
    walls, cpus, memory = [], [], 0.0
    for _ in range(STARTS):
        begun = time.perf_counter()
        with running(server_environment(corpus)) as server:
            walls.append(time.perf_counter() - begun)
            cpus.append(sum(cpu_seconds(pid) for pid in process_tree(server.process.pid)))
            memory = resident_mb(server.process.pid)["rss"]
    return with_load(
        {
            "wall_s": round(statistics.median(walls), 2),
            "cpu_s": round(statistics.median(cpus), 2),
            "rss_mb": memory,
        }
    )


def server_environment(corpus: Corpus) -> dict[str, str]:
    return environment(corpus.data, COLLECTION_NAME=COLLECTION, CTX_LOG_LEVEL="warning")


async def timed(
    corpus: Corpus, ask: Callable[[str], Awaitable[object]], spent: Callable[[], float]
) -> dict[str, Any]:
    """Latency and CPU of the measured queries, after a round of others."""
    for query in corpus.rounds[0]:
        await ask(query)
    taken = []
    before = spent()
    for query in corpus.measured:
        begun = time.perf_counter()
        await ask(query)
        taken.append(time.perf_counter() - begun)
    cpu = (spent() - before) / len(taken)
    return with_load(percentiles(taken) | {"cpu_ms": round(cpu * 1000, 2), "queries": len(taken)})


async def searched_here(corpus: Corpus) -> dict[str, Any]:
    settings = Settings(CTX_DATA_DIR=corpus.data)
    async with open_engine(settings, settings.code_model) as engine:
        searcher = Searcher(engine.vectors, engine.embedder)

        async def ask(query: str) -> None:
            await searcher.search(
                View(COLLECTION), SearchRequest(parse_queries(query), limit=LIMIT)
            )

        return await timed(corpus, ask, time.process_time)


async def searched_over_http(corpus: Corpus) -> dict[str, Any]:
    with running(server_environment(corpus)) as server:
        async with Client(server.indexer_http) as client:

            async def ask(query: str) -> None:
                answer = await client.call_tool("repo_search", {"query": query, "limit": LIMIT})
                tool_ms.append((answer.structured_content or {})["search_time_ms"])

            tool_ms: list[float] = []
            figures = await timed(corpus, ask, lambda: cpu_seconds(server.process.pid))
        in_tool = statistics.median(tool_ms[len(corpus.rounds[0]) :])
        return figures | {
            "in_tool_p50": round(in_tool, 1),
            "rss_mb": resident_mb(server.process.pid)["rss"],
        }
