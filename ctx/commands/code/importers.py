"""`ctx importers`: who uses a definition."""

from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.code.question import ask_about_name
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
def command(name: str, as_json: bool, **filters: Any) -> int:
    """Find the imports of a definition."""
    body = ask_about_name("search_importers_for", name, filters)
    return show_uses(body, as_json=as_json)
