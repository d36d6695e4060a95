"""`ctx workspaces`: the indexed folders."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ctx.cli import COMMANDS, Group, define_command
from ctx.client import connect, find_connection
from ctx.exit_code import Exit
from ctx.output import confirm, show
from ctx.terminal import table
from ctx.workspaces import indexed_workspaces, workspace_around
from ctx_core.errors import EntryNotFound


@define_command(
    "list",
    "List the folders that are indexed, with their size and age.",
    no="nothing is indexed",
    examples=["ctx workspaces list", "ctx workspaces list --json"],
)
def list_workspaces(as_json: bool) -> int:
    """List every indexed workspace that still exists."""
    found = asyncio.run(indexed_workspaces(find_connection().data_dir))
    body = {"ok": True, "workspaces": [asdict(each) for each in found]}
    show(body, _list_text, as_json=as_json)
    return Exit.DONE if found else Exit.NO


def _list_text(body: Mapping[str, Any]) -> str:
    names = ("path", "repo", "collection", "files", "chunks", "state", "last_indexed")
    rows = [[each[name] for name in names] for each in body["workspaces"]]
    heads = ["folder", "repo", "collection", "files", "chunks", "state", "last indexed"]
    return table(heads, rows) if rows else "Nothing is indexed. Index a project: ctx index FOLDER"


@define_command(
    "drop",
    "Remove a folder from the index. Its files are left alone, and it can be indexed again.",
    no="the folder is not indexed",
    destroys=True,
    examples=["ctx workspaces drop ~/old-project", "ctx workspaces drop . --yes --json"],
)
@click.argument("path")
def drop(path: str, yes: bool, as_json: bool) -> int:
    """Remove one workspace from the index."""
    folder = Path(path).expanduser().resolve()
    found = workspace_around(find_connection().data_dir, folder)
    if found is None:
        raise EntryNotFound("path", f"{folder} is not indexed; see: ctx workspaces list")
    root, state = found
    question = f"Remove {root} ({state.repo} in {state.collection_name}) from the index?"
    confirm(f"{question} Its files stay.", yes=yes, as_json=as_json)
    body = asyncio.run(_drop(state.collection_name, state.repo, root))
    show(body, _dropped_text, as_json=as_json)
    return Exit.DONE


def _dropped_text(body: Mapping[str, Any]) -> str:
    left = f" {body['repos'][0]} is still indexed from {', '.join(body['left'])}."
    return f"Removed {body['points_removed']} chunks.{left if body['left'] else ''}"


async def _drop(collection: str, repo: str, root: Path) -> dict[str, Any]:
    given = {"collection": collection, "repo": repo, "folder": str(root)}
    async with connect("indexer") as client:
        return await client.call("drop_collection", given)


command = Group(
    "workspaces",
    ["ctx workspaces list", "ctx workspaces drop ~/old-project"],
    commands=[list_workspaces, drop],
    help=COMMANDS["workspaces"],
)
