"""`ctx collections`: lists, prunes and drops collections."""

import asyncio
from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, Group, define_command
from ctx.client import connect
from ctx.exit_code import Exit
from ctx.output import confirm, show
from ctx.terminal import table


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool of the running indexer, or in this process. Raises CtxError."""

    async def call() -> dict[str, Any]:
        async with connect("indexer") as client:
            return await client.call(tool, arguments)

    return asyncio.run(call())


@define_command(
    "list",
    "List all collections with the number of their points.",
    no="there are none",
    examples=["ctx collections list", "ctx collections list --json"],
)
def list_collections(as_json: bool) -> int:
    """List collections of code and of entries."""
    body = _call("qdrant_list")
    show(body, _list_text, as_json=as_json)
    return Exit.DONE if body["collections"] else Exit.NO


def _list_text(body: Mapping[str, Any]) -> str:
    names = ("name", "points_count", "segments_count", "status")
    rows = [[each[name] for name in names] for each in body["collections"]]
    return table(["collection", "points", "segments", "status"], rows) or "No collections yet."


@define_command(
    "prune",
    "Remove what is indexed of files and folders that no longer exist. NAME is the collection for "
    "code where it is left out.",
    destroys=True,
    examples=["ctx collections prune", "ctx collections prune experiments --yes --json"],
)
@click.argument("name", required=False)
def prune(name: str | None, yes: bool, as_json: bool) -> int:
    """Prune one collection."""
    question = "Remove the index of all files and folders that no longer exist?"
    confirm(question, yes=yes, as_json=as_json)
    body = _call("prune_collection", **({} if name is None else {"collection": name}))
    show(body, _prune_text, as_json=as_json)
    return Exit.DONE


def _prune_text(body: Mapping[str, Any]) -> str:
    gone = f"; gone: {', '.join(body['repos'])}" if body["repos"] else ""
    return f"Removed {body['points_removed']} chunks from {body['collection']}{gone}."


@define_command(
    "drop",
    "Remove a collection of code. Files are left alone, and can be indexed again. Collections of "
    "memories cannot be dropped: the records make them anew.",
    destroys=True,
    examples=["ctx collections drop experiments", "ctx collections drop experiments --yes --json"],
)
@click.argument("name")
def drop(name: str, yes: bool, as_json: bool) -> int:
    """Drop one collection."""
    confirm(f"Remove the collection {name} with all it holds?", yes=yes, as_json=as_json)
    body = _call("drop_collection", collection=name)
    show(body, _drop_text, as_json=as_json)
    return Exit.DONE


def _drop_text(body: Mapping[str, Any]) -> str:
    repos = ", ".join(body["repos"]) or "none"
    return f"Removed {body['collection']}: {body['points_removed']} chunks, repositories: {repos}."


command = Group(
    "collections",
    ["ctx collections list", "ctx collections drop experiments"],
    commands=[list_collections, prune, drop],
    help=COMMANDS["collections"],
)
