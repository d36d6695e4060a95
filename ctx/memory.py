"""`ctx memory rebuild`: writes the vectors of every entry anew, from SQL."""

import argparse
import asyncio
import json

from ctx.complaint import complain
from services.core.errors import CtxError
from services.core.settings import Settings, load


def run(arguments: argparse.Namespace) -> int:
    """0 when every entry was written, 2 when it could not be done."""
    try:
        written = asyncio.run(_rebuild(load()))
    except CtxError as error:
        complain(error, as_json=arguments.json)
        return 2
    done = f"Wrote anew: {', '.join(f'{count} of kind {kind}' for kind, count in written.items())}."
    print(json.dumps({"ok": True, "written": written}) if arguments.json else done)
    return 0


async def _rebuild(settings: Settings) -> dict[str, int]:
    from services.core.parts import open_parts  # noqa: PLC0415 - slow to import
    from services.memory.service import open_outbox, open_records  # noqa: PLC0415

    async with open_parts(settings) as parts:
        records = await open_records(settings)
        try:
            written = await open_outbox(settings, parts, records).rebuild()
        finally:
            await records.close()
    return {kind.value: count for kind, count in written.items()}
