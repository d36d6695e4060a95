"""`ctx recall`: finds memories."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.exit_code import Exit
from ctx.memory_calls import call_memory, memory_text, show_notes
from ctx.output import show

WEAK = "Nothing fits well; the nearest:"


@define_command(
    "recall",
    COMMANDS["recall"] + " QUERY is words or a question; a time in it (last week) counts.",
    no="nothing is found",
    examples=[
        "ctx recall what do deploys need",
        "ctx recall retries --kind pattern --tags python --limit 3",
        "ctx recall what was decided last week --json",
    ],
)
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=5, show_default=True, help="Most results.")
@click.option("--kind", help="Only this kind.")
@click.option("--topic", help="Only this topic.")
@click.option("--tags", metavar="A,B", help="Only with one of these tags.")
@click.option("--language", metavar="NAME", help="Only about this programming language.")
@click.option("--priority-min", type=int, help="Only at least this important.")
def command(query: tuple[str, ...], as_json: bool, **filters: Any) -> int:
    """Find by the running memory server, or in this process."""
    body = call_memory("find", query=" ".join(query), **filters)
    show(body, _text, as_json=as_json)
    show_notes(body)
    return Exit.DONE if body["results"] else Exit.NO


def _text(body: Mapping[str, Any]) -> str:
    hits = [memory_text(hit, f"{hit['score']:.2f}") for hit in body["results"]]
    head = [WEAK] if hits and body.get("weak") else []
    return "\n\n".join([*head, *hits]) or "Nothing found."
