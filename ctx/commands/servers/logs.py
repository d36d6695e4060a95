"""`ctx logs`: what the servers in the background wrote."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ctx.background import last_lines, log_path
from ctx.cli import COMMANDS, define_command
from ctx.client import find_connection
from ctx.exit_code import Exit
from ctx.output import show
from ctx_core.errors import InvalidInput

MAX_LINES = 10_000
POLL_SECONDS = 0.25


@define_command(
    "logs",
    COMMANDS["logs"] + " CTX_LOG_LEVEL says how much that is.",
    no="there is no log",
    examples=["ctx logs", "ctx logs --lines 200", "ctx logs --follow", "ctx logs --json"],
)
@click.option(
    "--lines", type=click.IntRange(1, MAX_LINES), default=50, show_default=True, help="Last lines."
)
@click.option("--follow", "-f", is_flag=True, help="Go on with what is written, until Ctrl-C.")
def command(lines: int, follow: bool, as_json: bool) -> int:
    """Print the end of the log."""
    if follow and as_json:
        raise InvalidInput("--follow", "is for people; leave out --json")
    file = log_path(find_connection().data_dir)
    found = last_lines(file, lines)
    show({"ok": bool(found), "file": str(file), "lines": found}, _text, as_json=as_json)
    if follow:
        _follow(file)
    return Exit.DONE if found else Exit.NO


def _text(body: Mapping[str, Any]) -> str:
    empty = f"There is no log at {body['file']}. Servers in the background write it: ctx up -d"
    return "\n".join(body["lines"]) or empty


def _follow(file: Path) -> None:
    """Print what is appended to a file; from its beginning where another took its place."""
    place = file.stat().st_size if file.exists() else 0
    while True:
        size = file.stat().st_size if file.exists() else 0
        place = 0 if size < place else place
        if size > place:
            with file.open("rb") as opened:
                opened.seek(place)
                sys.stdout.write(opened.read(size - place).decode(errors="replace"))
            sys.stdout.flush()
            place = size
        time.sleep(POLL_SECONDS)
