"""`ctx memory rebuild`: writes the vectors of every memory anew, from SQL."""

import argparse
import asyncio
import json

from ctx.complaint import complain
from services.core.errors import CtxError
from services.core.settings import Settings, load


def run(arguments: argparse.Namespace) -> int:
    """0 when every memory was written, 2 when it could not be done."""
    try:
        count = asyncio.run(_rebuild(load()))
    except CtxError as error:
        complain(error, as_json=arguments.json)
        return 2
    done = f"Wrote {count} memories anew."
    print(json.dumps({"ok": True, "memories": count}) if arguments.json else done)
    return 0


async def _rebuild(settings: Settings) -> int:
    from services.core.parts import open_parts  # noqa: PLC0415 - slow to import
    from services.memory.outbox import Outbox  # noqa: PLC0415
    from services.memory.records import Records  # noqa: PLC0415

    async with open_parts(settings) as parts:
        records = await Records.open(settings.records_url)
        try:
            outbox = Outbox(records, parts.vectors, parts.embedder, settings.memory_collection_name)
            return await outbox.rebuild()
        finally:
            await records.close()
