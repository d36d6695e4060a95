"""`ctx status`: which servers answer, and what they say."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.client import find_connection, load_settings
from ctx.exit_code import Exit
from ctx.output import show
from ctx.servers import server_statuses
from ctx.terminal import colored
from ctx.workspaces import indexed_workspaces
from ctx_core.clock import utc_now

RUNNING = "in_progress"  # what a state says during a run; what it had before is not its age


@define_command(
    "status",
    COMMANDS["status"] + " And what is indexed.",
    no="not both servers are ready",
    examples=["ctx status", "ctx status --brief", "ctx status --json"],
)
@click.option("--brief", is_flag=True, help="One line about this folder, for an agent to read.")
def command(brief: bool, as_json: bool) -> int:
    """Print what each health port says."""
    connection = find_connection()
    statuses = asyncio.run(server_statuses(connection))
    if not any(status.running for status in statuses):
        load_settings()  # a wrong one would be why; it takes longer than all the rest
    is_ready = all(status.ready for status in statuses)
    watched = {each["path"]: each for status in statuses for each in status.watch or ()}
    body = {
        "ok": is_ready,
        "servers": [_without_watch(asdict(status)) for status in statuses],
        "workspaces": [
            asdict(each) | {"watch": watched.get(each.path)}
            for each in asyncio.run(indexed_workspaces(connection.data_dir))
        ],
    }
    show(body, _brief if brief else _text, as_json=as_json)
    return Exit.DONE if is_ready else Exit.NO


def _text(body: Mapping[str, Any]) -> str:
    lines = [line for server in body["servers"] for line in _lines(server)]
    if not any(server["running"] for server in body["servers"]):
        lines += ["", "Nothing runs. Start with: ctx up"]
    workspaces = body["workspaces"]
    if not workspaces:
        return "\n".join([*lines, "", "Nothing is indexed. Index a project with: ctx index FOLDER"])
    return "\n".join([*lines, "", "indexed", *(workspace_line(each) for each in workspaces)])


def _brief(body: Mapping[str, Any]) -> str:
    """Return what an agent should know of the folder that it works in."""
    if not all(server["running"] for server in body["servers"]):
        return "ctx: the servers do not run; `ctx up --detach` starts them."
    around = [str(each) for each in (Path.cwd(), *Path.cwd().parents)]
    indexed = {each["path"]: each for each in body["workspaces"]}
    found = next((indexed[each] for each in around if each in indexed), None)
    if found is None:
        return "ctx: this folder is not indexed; `ctx index` does it. `find` has what was learned."
    age = _age(found["last_indexed"], found["state"])
    files = "1 file" if found["files"] == 1 else f"{found['files']} files"
    return (
        f"ctx: this code is indexed ({files}, {age}{_watch_text(found)}). "
        "Ask `repo_search` before reading files, and `find` for what was learned before."
    )


def workspace_line(workspace: Mapping[str, Any]) -> str:
    """Return a line about an indexed workspace: where, how much and how old."""
    return (
        f"  {workspace['path']}  {workspace['repo']} in {workspace['collection']}: "
        f"{workspace['files']} files, {workspace['chunks']} chunks, "
        f"{_age(workspace['last_indexed'], workspace['state'])}{_watch_text(workspace)}"
    )


def _watch_text(workspace: Mapping[str, Any]) -> str:
    """Return how a workspace is followed, and how far behind its index is."""
    if not (watch := workspace.get("watch")):
        return ""
    pending = watch["pending"]
    behind = f", {pending} changes pending, {watch['lag_seconds']:.1f} s behind" if pending else ""
    reason = f" ({watch['reason']})" if watch["reason"] else ""
    return f", {watch['state']}{behind}{reason}"


def _without_watch(status: dict[str, Any]) -> dict[str, Any]:
    """Return a server's status without what is told with each workspace."""
    return {key: value for key, value in status.items() if key != "watch"}


def _age(moment: str | None, state: str) -> str:
    if moment is None or state == RUNNING:
        return state.replace("_", " ")
    seconds = (utc_now() - datetime.fromisoformat(moment)).total_seconds()
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} old"
    return "less than a minute old"


def _lines(server: Mapping[str, Any]) -> list[str]:
    if not server["running"]:
        return [f"{server['service']:<8} not running   {server['url']}"]
    state = "ready" if server["ready"] else "NOT READY"
    shown = colored(f"{state:<13}", "good" if server["ready"] else "bad")
    lines = [f"{server['service']:<8} {shown} {server['url']}"]
    lines += [f"  {name:<10} {outcome}" for name, outcome in server["checks"].items()]
    return lines + [f"  note: {text}" for text in server["advice"]]
