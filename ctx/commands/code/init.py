"""`ctx init`: the first command in a project."""

import asyncio
from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.client import find_connection
from ctx.commands.code.index import index_folder, report_text
from ctx.exit_code import Exit
from ctx.output import show
from ctx.servers import SERVICES, is_running
from ctx_core.environment.connection import Connection


@define_command(
    "init",
    COMMANDS["init"] + " PATH is this folder where it is left out. Running it again is harmless: "
    "only what changed is indexed.",
    examples=["ctx init", "ctx init ~/my-project", "ctx init --json"],
)
@click.argument("path", required=False)
def command(path: str | None, as_json: bool) -> int:
    """Index a project and print the next steps."""
    body = index_folder(path, as_json=as_json)
    body["next"] = asyncio.run(_next_steps(find_connection()))
    show(body, _text, as_json=as_json)
    return Exit.DONE


async def _next_steps(connection: Connection) -> list[str]:
    runs = all([await is_running(connection, each) for each in SERVICES])
    start = [] if runs else ["ctx up --detach"]
    return [*start, "ctx install", "ctx search how does it start"]


def _text(body: Mapping[str, Any]) -> str:
    steps = [f"  {step}" for step in body["next"]]
    return "\n".join([report_text(body), "", "Next:", *steps])
