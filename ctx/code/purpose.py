"""Searches among files of one purpose: tests, configuration."""

from collections.abc import Callable
from typing import Any

import click

from ctx.code.hits import show_hits
from ctx.code.question import ask_indexer

OPTIONS = (
    click.argument("query", nargs=-1, required=True),
    click.option("--limit", type=int, default=5, show_default=True, help="Most results."),
    click.option("--language", metavar="NAME", help="Only this language."),
    click.option("--under", metavar="FOLDER", help="Only this folder and all below it."),
    click.option("--repo", metavar="NAME", help="Only this repository; * is every one."),
)


def search_by(tool: str) -> Callable[..., int]:
    """Return a command's function that searches with a tool, with its options."""

    def search(query: tuple[str, ...], as_json: bool, **filters: Any) -> int:
        """Search by the running indexer, or in this process."""
        body = ask_indexer(tool, {"query": " ".join(query), **filters})
        return show_hits(body, as_json=as_json)

    for option in reversed(OPTIONS):
        search = option(search)
    return search
