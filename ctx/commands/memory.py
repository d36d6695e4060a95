"""`ctx memory rebuild`: builds the vectors of entries anew, by a running server or by itself."""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

from ctx.output import complain
from ctx.progress import Bar
from ctx.servers import ask, call_memory
from services.core.errors import CtxError
from services.core.settings import Settings, load


def run(arguments: argparse.Namespace) -> int:
    """0 when every entry was written, 2 when it could not be done."""
    bar = Bar("entries", visible=sys.stderr.isatty() and not arguments.json)
    try:
        body = asyncio.run(_rebuild(load(), bar))
    except CtxError as error:
        bar.clear()
        complain(error, as_json=arguments.json)
        return 2
    bar.clear()
    print(json.dumps(body) if arguments.json else _summary(body))
    return 0


def _summary(body: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{count} of kind {kind}" for kind, count in body["written"].items())
    return f"Wrote anew with {body['model']}: {counts}."


async def _rebuild(settings: Settings, bar: Bar) -> dict[str, Any]:
    if ask("memory", settings.memory_http_port, settings).running:
        return await _by_server(settings, bar)
    return await _by_ourselves(settings, bar)


async def _by_server(settings: Settings, bar: Bar) -> dict[str, Any]:
    """With the model that the server was started with; searches go on meanwhile."""
    from services.memory.memories.tools import REBUILD_SECONDS  # noqa: PLC0415 - slow to import

    return await call_memory(
        settings, "rebuild_memories", {}, seconds=REBUILD_SECONDS, on_progress=bar.show
    )


async def _by_ourselves(settings: Settings, bar: Bar) -> dict[str, Any]:
    from services.core.engine.engine import open_engine  # noqa: PLC0415 - slow to import
    from services.core.serving import progress  # noqa: PLC0415
    from services.memory.service import open_outbox, open_records  # noqa: PLC0415

    progress.current.set(bar.show)
    async with open_engine(settings, settings.memory_model) as engine:
        records = await open_records(settings)
        try:
            written = await open_outbox(settings, engine, records).rebuild()
        finally:
            await records.close()
        counts = {kind.value: count for kind, count in written.items()}
        return {"ok": True, "model": engine.embedder.name, "written": counts}
