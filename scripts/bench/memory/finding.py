"""Measures `find` over HTTP among many memories: wall and CPU time, memory of the process.

    .venv/bin/python -m scripts.bench.memory.finding --entries 100000

Memories are distinct texts of 150 characters on average, imported in process. Embedding them all
with a transformer takes most of an hour, so SAMPLE texts are embedded; the vectors of others are
those with noise, put into the embedding cache before. Questions are embedded by the server, each a
new one. Prints one JSON object.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from fastmcp import Client
from numpy.typing import NDArray

from ctx_core.batches import batches
from ctx_core.embedding.cache import EmbeddingCache, content_key
from ctx_core.engine.engine import open_engine
from ctx_core.settings import Settings
from ctx_memory.memories.exchange import ExportedMemory
from ctx_memory.service import open_memory
from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit, note, percentiles, with_load
from scripts.bench.memory.threads import SUBJECTS, VERBS, questions, sentences, wait_until_idle
from scripts.bench.servers import Server, environment, running
from scripts.bench.usage import cpu_seconds, resident_mb

Rows = NDArray[np.float32]
CACHE_FILE = "embeddings.sqlite"

SEED = 12
SAMPLE = 400
NOISE = 0.5  # the length of what is added to a vector of length one: its cosine is 0.89
PAGE = 500
CACHED = 5_000  # vectors put into the cache at once
CALLS = 150
WARM_UP = 20
CREATED = "2026-01-01T00:00:00Z"
SERVER = ("-m", "ctx_memory", "--transports", "http")


def texts(chance: random.Random) -> Iterator[str]:
    pool = sentences()
    number = 0
    while True:
        number += 1
        head = f"Note {number}: {chance.choice(SUBJECTS)} {chance.choice(VERBS)}."
        yield f"{head} {chance.choice(pool)}"


async def fill(settings: Settings, memories: list[str]) -> dict[str, Any]:
    """Import the memories in process, each with its vector in the cache."""
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        sample = engine.embedder.embed_documents(memories[:SAMPLE])
        fill_cache(settings.data_dir / CACHE_FILE, engine.embedder.name, memories, sample)
        [importing] = [t for t in memory.service.owner_tools if t.name == "import_memories"]
        cpu = time.process_time()
        for number, page in enumerate(batches(list(enumerate(memories)), PAGE)):
            await importing.run([ExportedMemory(**exported(*each)) for each in page])
            if number % 20 == 0:
                note(f"{number * PAGE + len(page)} imported")
        spent = time.process_time() - cpu
    return {
        "model": engine.embedder.name,
        "import_cpu_ms_an_entry": round(spent / len(memories) * 1000, 2),
    }


def fill_cache(path: Path, model: str, memories: list[str], sample: Rows) -> None:
    cache = EmbeddingCache(path)
    chance = np.random.default_rng(SEED)
    for part in batches(memories[len(sample) :], CACHED):
        rows = sample[chance.integers(len(sample), size=len(part))]
        noise = chance.normal(size=rows.shape)
        noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
        noisy = rows + noise
        noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
        cache.put(model, zip(map(content_key, part), noisy.astype(np.float32), strict=True))
    cache.close()


def exported(place: int, text: str) -> dict[str, Any]:
    return {
        "id": str(UUID(int=place + 1)),
        "collection": "memories",
        "information": text,
        "created_at": CREATED,
        "updated_at": CREATED,
    }


async def ask(server: Server, calls: int) -> dict[str, Any]:
    asked, taken, before, weak = questions(random.Random(SEED + 1)), [], 0.0, 0
    async with Client(server.memory_http) as client:
        for number, query in enumerate(islice(asked, WARM_UP + calls)):
            if number == WARM_UP:
                before = cpu_seconds(server.process.pid)
            begun = time.perf_counter()
            result = await client.call_tool("find", {"query": query})
            if number >= WARM_UP:
                taken.append(time.perf_counter() - begun)
                weak += bool((result.structured_content or {}).get("weak"))
    spent = cpu_seconds(server.process.pid) - before
    return {**percentiles(taken), "cpu_ms": round(spent / calls * 1000, 1), "weak": weak}


def run(given: argparse.Namespace, data: Path) -> dict[str, Any]:
    memories = list(islice(texts(random.Random(SEED)), given.entries))
    chosen = {"MEMORY_EMBEDDING_MODEL": given.model} if given.model else {}
    settings = Settings(data_dir=data, **{name.lower(): value for name, value in chosen.items()})
    filled = asyncio.run(fill(settings, memories))
    with running(environment(data, **chosen), *SERVER) as server:
        wait_until_idle(server)  # what was not searchable when it was imported is written now
        found = asyncio.run(ask(server, given.calls))
        resident = resident_mb(server.process.pid)
    report = {"commit": commit(), "entries": len(memories), **filled}
    return with_load(report | {"find_http_ms": found, "memory_mb": resident})


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--model", help="embedding model; unset: the default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(run(given, Path(folder) / "data"), indent=2))


if __name__ == "__main__":
    main()
