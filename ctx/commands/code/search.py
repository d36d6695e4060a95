"""`ctx search`: searches the code that is indexed."""

from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.code.hits import show_hits
from ctx.code.question import ask_indexer


@define_command(
    "search",
    COMMANDS["search"]
    + " QUERY is words, a question or a symbol. Only the repository of this folder is searched, "
    "unless --repo names another. A running indexer is asked; without one the folder is brought "
    "up to date first.",
    no="nothing is found",
    examples=[
        "ctx search where are retries configured",
        "ctx search HttpClient --kind class",
        "ctx search parse header --language python --under src --limit 10",
        "ctx search retry policy --json",
    ],
)
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=5, show_default=True, help="Most results.")
@click.option("--language", metavar="NAME", help="Only this language.")
@click.option("--under", metavar="FOLDER", help="Only this folder and all below it.")
@click.option("--kind", metavar="KIND", help="Only function, class, method, …")
@click.option("--symbol", metavar="NAME", help="Only where this name is defined.")
@click.option("--path-glob", metavar="GLOB", help="Only paths that match.")
@click.option("--repo", metavar="NAME", help="Only this repository; * is every one.")
def command(query: tuple[str, ...], as_json: bool, **filters: Any) -> int:
    """Search by the running indexer, or in this process."""
    body = ask_indexer("repo_search", {"query": " ".join(query), **filters})
    return show_hits(body, as_json=as_json)
