"""`ctx remember`: stores a memory."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.exit_code import Exit
from ctx.memory_calls import call_memory, show_notes
from ctx.output import show
from ctx.text_input import given_text

KINDS = ("snippet", "explanation", "pattern", "example", "reference")


@define_command(
    "remember",
    COMMANDS["remember"] + " TEXT is what to remember; - is standard input.",
    no="it supersedes a memory that does not exist",
    examples=[
        "ctx remember 'Deploys need the VPN.' --topic deployment --tags vpn,release",
        "ctx remember 'Retries are exponential.' --kind pattern --tags python --path src/retry.py",
        "ctx remember - --topic postmortem --json",
    ],
)
@click.argument("text")
@click.option("--kind", type=click.Choice(KINDS), help="What it is.")
@click.option("--topic", help="What it is about.")
@click.option("--tags", metavar="A,B", help="To find it by.")
@click.option("--language", metavar="NAME", help="The programming language that it is about.")
@click.option("--path", metavar="FILE", help="The file that it is about.")
@click.option("--priority", type=int, help="From 1 to 10; 10 is most important.")
@click.option("--author", help="Who it comes from.")
@click.option("--expires-at", metavar="TIME", help="From then on it is not found; ISO 8601.")
@click.option("--supersedes", metavar="ID", help="A memory that this one replaces.")
@click.option("--collection", metavar="NAME", help="Where to keep it; made if missing.")
def command(text: str, collection: str | None, as_json: bool, **fields: Any) -> int:
    """Store by the running memory server, or in this process."""
    metadata = {name: value for name, value in fields.items() if value is not None}
    body = call_memory(
        "store", information=given_text(text), metadata=metadata or None, collection=collection
    )
    show(body, _text, as_json=as_json)
    show_notes(body)
    return Exit.DONE


def _text(body: Mapping[str, Any]) -> str:
    return f"Remembered as {body['id']}."
