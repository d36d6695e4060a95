"""`ctx importers`: who uses a definition."""

import click

from ctx.cli import COMMANDS, define_command
from ctx.code.question import ask_indexer
from ctx.code.uses import show_uses, use_options


@define_command(
    "importers",
    COMMANDS["importers"]
    + " NAME may be qualified, such as Session.send. What the code resolves to the definition is "
    "exact; what only has its name is marked possible.",
    no="nothing is found",
    examples=["ctx importers Session", "ctx importers load --under src --limit 50 --json"],
)
@click.argument("name")
@use_options
def command(name: str, as_json: bool, **filters: object) -> int:
    """Find the imports of a definition."""
    body = ask_indexer("search_importers_for", {"query": name, **filters})
    return show_uses(body, as_json=as_json)
