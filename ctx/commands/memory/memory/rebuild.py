"""`ctx memory rebuild`: writes the vectors of all entries anew."""

import asyncio
from collections.abc import Mapping
from typing import Any

from ctx.cli import define_command
from ctx.client import connect
from ctx.output import show
from ctx.progress import ProgressBar

EXAMPLES = ("ctx memory rebuild", "ctx memory rebuild --json")


@define_command(
    "rebuild",
    "Write Qdrant anew from SQL. The embedding model is the one that is configured; a running "
    "server goes on answering meanwhile.",
    examples=EXAMPLES,
)
def rebuild(as_json: bool) -> int:
    """Rebuild by the running memory server, or in this process."""
    with ProgressBar("entries", as_json=as_json) as bar:
        body = asyncio.run(_rebuild(bar))
    show(body, _text, as_json=as_json)
    return 0


async def _rebuild(bar: ProgressBar) -> dict[str, Any]:
    async with connect("memory") as client:
        return await client.call("rebuild_memories", {}, bar.show)


def _text(body: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{count} of kind {kind}" for kind, count in body["written"].items())
    return f"Wrote anew with {body['model']}: {counts}."
