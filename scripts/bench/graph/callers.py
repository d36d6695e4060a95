"""Times the questions about a definition: callers, importers, and the tree of its relations.

    .venv/bin/python -m scripts.bench.graph.callers FOLDER [--data FOLDER] [--names 60]

The folder is indexed with the embedded engine, and every question is asked in process for
definitions that are drawn from the index (the same ones every time), each for the first time; other
ones are asked before, so that the process is warm. CPU is that of the process. COMMON are names
that many classes have. Prints one JSON object.
"""

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ctx_core.engine.engine import open_engine
from ctx_core.errors import InvalidInput
from ctx_core.memories.client import RemoteMemories
from ctx_core.settings import Settings
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match
from ctx_indexer.schema import fields
from ctx_indexer.service import open_indexer
from ctx_indexer.syntax.symbols.table import decode_table
from scripts.bench.arguments import program_parser
from scripts.bench.figures import percentiles, with_load

QUESTIONS = ("search_callers_for", "search_importers_for", "symbol_graph")
COMMON = ("save", "filter", "reverse", "get", "as_sql", "Model.save", "QuerySet.filter", "clean")
PAGE = 500
NOBODY = "http://127.0.0.1:9/mcp"  # memories are not asked here
SEED = 7

Ask = Callable[[str], Awaitable[Mapping[str, Any]]]


async def definitions(store: VectorStore, collection: str, folder: str) -> list[str]:
    """Return the qualified names that are defined below a folder, in order."""
    names: set[str] = set()
    offset: str | None = None
    where = Filter(must=[Match(fields.LANGUAGE, "python")])
    while True:
        page, offset = await store.scroll(collection, where=where, limit=PAGE, offset=offset)
        for record in page:
            table = record.payload.get(fields.SYMBOL_TABLE)
            if table and str(record.payload[fields.PATH]).startswith(folder):
                names.update(scope.path for scope in decode_table(table).scopes[1:])
        if offset is None:
            return sorted(names - {""})


async def timed(ask: Ask, names: Sequence[str]) -> dict[str, Any]:
    """Ask about each name once."""
    seconds, cpu, uncertain, refused = [], [], 0, 0
    for name in names:
        begun, spent = time.perf_counter(), time.process_time()
        try:
            answer = await ask(name)
            uncertain += not answer["complete"]
        except InvalidInput:
            refused += 1
            continue
        seconds.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - spent)
    return {
        "ms": percentiles(seconds),
        "cpu_ms": percentiles(cpu),
        "slowest_cpu_ms": round(max(cpu) * 1000, 1),
        "names": len(seconds),
        "not_complete": uncertain,
        "unknown": refused,
    }


async def measure(folder: Path, data: Path, count: int, below: str) -> dict[str, Any]:
    settings = Settings(data_dir=data, workspace=folder)
    async with (
        open_engine(settings, settings.code_model) as engine,
        open_indexer(settings, engine, RemoteMemories(NOBODY, None)) as indexer,
    ):
        tools = {tool.run.__name__: tool.run for tool in indexer.service.tools}
        await tools["qdrant_index"]()
        known = await definitions(engine.vectors, settings.collection_name, below)
        drawn = random.Random(SEED).sample(known, min(2 * count, len(known)))
        figures: dict[str, Any] = {"definitions": len(known)}
        for name in QUESTIONS:
            await timed(tools[name], drawn[count:])
            figures[name] = await timed(tools[name], drawn[:count])
            figures[f"{name}, again"] = await timed(tools[name], drawn[:count])
            figures[f"{name}, common names"] = await timed(tools[name], COMMON)
        return with_load(figures)


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="keeps the index for the next time")
    parser.add_argument("--names", type=int, default=60, help="how many are drawn")
    parser.add_argument("--below", default="", help="draw those of this folder only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = options.data or Path(temporary)
        figures = asyncio.run(measure(options.folder, data, options.names, options.below))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
