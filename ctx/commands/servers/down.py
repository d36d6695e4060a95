"""`ctx down`: stops what `ctx up` started."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ctx.background import run_owner, stop
from ctx.cli import COMMANDS, define_command
from ctx.client import find_connection
from ctx.exit_code import Exit
from ctx.output import show
from ctx.servers import SERVICES, is_running
from ctx_core.environment.connection import Connection


@define_command(
    "down",
    COMMANDS["down"] + " Calls that run are finished first.",
    no="nothing runs that `ctx up` started",
    examples=["ctx down", "ctx down --json"],
)
def command(as_json: bool) -> int:
    """Stop the process that serves the configured ports."""
    connection = find_connection()
    owner = run_owner(connection)
    if owner is None:
        others = asyncio.run(_others(connection))
        show({"ok": False, "stopped": None, "others": others}, _text, as_json=as_json)
        return Exit.NO
    stop(connection, owner)
    show({"ok": True, "stopped": asdict(owner), "others": []}, _text, as_json=as_json)
    return Exit.DONE


async def _others(connection: Connection) -> list[str]:
    """Return the addresses of servers that run, but not by `ctx up` over this data folder."""
    running = [each for each in SERVICES if await is_running(connection, each)]
    return [connection.url(each, "/mcp") for each in running]


def _text(body: Mapping[str, Any]) -> str:
    if body["stopped"]:
        return "Stopped process {pid}, which ran since {since}.".format(**body["stopped"])
    if body["others"]:
        return (
            f"{', '.join(body['others'])} answers, but `ctx up` did not start it here. Stop it as "
            "it was started (a container, a service), or set CTX_DATA_DIR to its data folder."
        )
    return "Nothing runs. Start with: ctx up -d"
