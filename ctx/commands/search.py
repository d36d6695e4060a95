"""`ctx search`: searches the code that is indexed."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.client import LocalClient, connect, in_folder
from ctx.output import show, show_note
from services.core.errors import NotPermitted
from services.core.settings import Settings, load

SHOWN_LINES = 12  # of a snippet; --json has it whole


@define_command(
    "search",
    COMMANDS["search"]
    + " QUERY is words, a question or a symbol. A running indexer is asked; without one this "
    "folder is brought up to date first, and only its repository is searched. The exit code is 1 "
    "when nothing is found.",
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
    given = {name: value for name, value in filters.items() if value is not None}
    body = asyncio.run(_search({"query": " ".join(query)} | given))
    show(body, _text, as_json=as_json)
    for reason in body.get("degraded", ()):
        show_note(reason)
    return 0 if body["results"] else 1


async def _search(arguments: dict[str, Any]) -> dict[str, Any]:
    settings = load()
    folder = settings.workspace.expanduser().resolve()
    async with connect(in_folder(settings, folder), "indexer") as client:
        if isinstance(client, LocalClient):
            arguments = await _update_index(client, folder) | arguments
        return await client.call("repo_search", arguments)


async def _update_index(client: LocalClient, folder: Path) -> dict[str, Any]:
    """Bring the index up to date with a folder, and return the filter for its repository."""
    try:
        indexed = await client.call("qdrant_index", {"subdir": str(folder)})
    except NotPermitted as refused:
        show_note(f"searching what is indexed already: {refused}")
        return {}
    return {} if _has_default_repo(client.settings) else {"repo": indexed["repo"]}


def _has_default_repo(settings: Settings) -> bool:
    return settings.repo_auto_filter and settings.current_repo is not None


def _text(body: Mapping[str, Any]) -> str:
    if not body["results"]:
        return "Nothing found. Is this folder indexed? See: ctx index"
    return "\n\n".join(_hit(hit) for hit in body["results"])


def _hit(hit: Mapping[str, Any]) -> str:
    symbol = hit["symbol"] or hit["metadata"]["kind"]
    head = f"{Path(hit['path'])}:{hit['start_line']}-{hit['end_line']}  {symbol}  {hit['score']}"
    lines = hit.get("snippet", "").splitlines()
    more = [f"    … {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    return "\n".join([head, *(f"    {line}" for line in lines[:SHOWN_LINES]), *more])
