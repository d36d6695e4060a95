"""How commands call the memory server's tools, and print memories."""

import asyncio
from collections.abc import Mapping
from typing import Any

from ctx.client import connect
from ctx.output import show_note
from ctx.terminal import colored, dimmed

Body = dict[str, Any]
SHOWN_DETAILS = ("kind", "topic", "language", "path", "tags", "priority")


def call_memory(tool: str, **arguments: Any) -> Body:
    """Call a tool of the running memory server, or in this process. Raises CtxError."""
    given = {name: value for name, value in arguments.items() if value not in (None, ())}

    async def call() -> Body:
        async with connect("memory") as client:
            return await client.call(tool, given)

    return asyncio.run(call())


def show_notes(body: Body) -> None:
    """Print what an answer lacks, and warnings, to standard error."""
    for reason in (*body.get("degraded", ()), *body.get("warnings", ())):
        show_note(reason)


def memory_text(memory: Mapping[str, Any], head: str = "") -> str:
    """Write one memory: its id, its text, and what is known about it."""
    details = [
        f"{name} {', '.join(value) if isinstance(value, list) else value}"
        for name in SHOWN_DETAILS
        if (value := memory["metadata"].get(name))
    ]
    parts = [colored(memory["id"], "path"), *([head] if head else []), *map(dimmed, details)]
    text = "\n".join(f"    {line}" for line in memory["information"].splitlines())
    return f"{'  '.join(parts)}\n{text}"
