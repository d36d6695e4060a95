"""`ctx config`: a search among files of one purpose."""

from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.code.hits import show_hits
from ctx.code.question import ask_indexer


@define_command(
    "config",
    COMMANDS["config"] + " QUERY is words or a question.",
    no="nothing is found",
    examples=["ctx config database url", "ctx config release workflow --language yaml --json"],
)
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=5, show_default=True, help="Most results.")
@click.option("--language", metavar="NAME", help="Only this language.")
@click.option("--under", metavar="FOLDER", help="Only this folder and all below it.")
@click.option("--repo", metavar="NAME", help="Only this repository; * is every one.")
def command(query: tuple[str, ...], as_json: bool, **filters: Any) -> int:
    """Search by the running indexer, or in this process."""
    body = ask_indexer("search_config_for", {"query": " ".join(query), **filters})
    return show_hits(body, as_json=as_json)
