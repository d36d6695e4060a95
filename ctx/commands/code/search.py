"""`ctx search`: searches the code that is indexed."""

import asyncio
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.client import LocalClient, connect, find_connection, in_folder, workspace_setting
from ctx.exit_code import Exit
from ctx.output import show, show_note
from ctx.terminal import colored, dimmed
from ctx.workspaces import workspace_around
from services.core.errors import CollectionNotFound, NotPermitted
from services.indexer.source.workspace import resolve_workspace

if TYPE_CHECKING:
    from services.core.settings import Settings

SHOWN_LINES = 12  # of a snippet; --json has it whole


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
    given = {name: value for name, value in filters.items() if value is not None}
    body = asyncio.run(_search({"query": " ".join(query)} | given))
    show(body, _text, as_json=as_json)
    for reason in body.get("degraded", ()):
        show_note(reason)
    return Exit.DONE if body["results"] else Exit.NO


async def _search(arguments: dict[str, Any]) -> dict[str, Any]:
    folder = resolve_workspace(workspace_setting())
    async with connect("indexer", lambda settings: in_folder(settings, folder)) as client:
        if isinstance(client, LocalClient):
            arguments = await _update_index(client, folder) | arguments
        elif "repo" not in arguments:
            arguments |= _repo_filter(find_connection().data_dir, folder)
        return await client.call("repo_search", arguments)


def _repo_filter(data_dir: Path, folder: Path) -> dict[str, Any]:
    """Return the filter for the repository that a folder was indexed as.

    Raises CollectionNotFound where it was not indexed.
    """
    state = workspace_around(data_dir, folder)
    if state is None:
        raise CollectionNotFound(
            f"{folder} is not indexed. Index it with: ctx index {shlex.quote(str(folder))} "
            "(--repo '*' searches everything that is indexed)"
        )
    return {"repo": state.repo, "collection": state.collection_name}


async def _update_index(client: LocalClient, folder: Path) -> dict[str, Any]:
    """Bring the index up to date with a folder, and return the filter for its repository."""
    try:
        indexed = await client.call("qdrant_index", {"subdir": str(folder)})
    except NotPermitted as refused:
        show_note(f"searching what is indexed already: {refused}")
        return {}
    return {} if _has_default_repo(client.settings) else {"repo": indexed["repo"]}


def _has_default_repo(settings: "Settings") -> bool:
    return settings.repo_auto_filter and settings.current_repo is not None


def _text(body: Mapping[str, Any]) -> str:
    if not body["results"]:
        return "Nothing found."
    return "\n\n".join(_hit(hit) for hit in body["results"])


def _hit(hit: Mapping[str, Any]) -> str:
    symbol = hit["symbol"] or hit["metadata"]["kind"]
    place = f"{Path(hit['path'])}:{hit['start_line']}-{hit['end_line']}"
    head = f"{colored(place, 'path')}  {colored(symbol, 'name')}  {dimmed(str(hit['score']))}"
    lines = hit.get("snippet", "").splitlines()
    more = [f"    … {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    return "\n".join([head, *(f"    {line}" for line in lines[:SHOWN_LINES]), *more])
