"""`ctx knowledge sync`: shares knowledge by git, and resolves conflicts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ctx.cli import Group, define_command
from ctx.exit_code import Exit
from ctx.knowledge import Body, KnowledgeClient, run_with_knowledge
from ctx.output import show
from ctx_core.errors import InvalidInput

UNFINISHED = ("rejected", "conflicts", "no_remote")
RESOLVE_HINT = "See: ctx knowledge sync resolve"


@define_command(
    "push",
    "Commit the knowledge folder and push it; code is neither committed nor pushed.",
    no="the remote did not take it",
    examples=["ctx knowledge sync push", "ctx knowledge sync push --message 'Describe the queue'"],
)
@click.option("--message", default="", help="Of the commit; by default it is made.")
def push(message: str, as_json: bool) -> int:
    """Push knowledge."""

    async def work(client: KnowledgeClient) -> Body:
        return await client.call("context_sync_push", message=message)

    return _show_sync(run_with_knowledge(work), as_json=as_json)


@define_command(
    "pull",
    "Pull the team's knowledge and merge it by sections; code is left alone.",
    no="conflicts wait, or there is no remote",
    examples=["ctx knowledge sync pull", "ctx knowledge sync pull --strategy agent"],
)
@click.option(
    "--strategy",
    type=click.Choice(["ours", "theirs", "agent"]),
    default="ours",
    show_default=True,
    help="In a conflict: take a side, or change nothing and wait for `resolve`.",
)
def pull(strategy: str, as_json: bool) -> int:
    """Pull knowledge."""

    async def work(client: KnowledgeClient) -> Body:
        return await client.call("context_sync_pull", strategy=strategy)

    return _show_sync(run_with_knowledge(work), as_json=as_json)


def _show_sync(body: Body, *, as_json: bool) -> int:
    show(body, _sync_text, as_json=as_json)
    failed = body["status"] in UNFINISHED or "push_error" in body
    return Exit.NO if failed else Exit.DONE


def _sync_text(body: Mapping[str, Any]) -> str:
    head = " ".join(
        str(body[name]) for name in ("status", "commit", "commit_message") if name in body
    )
    lines = [body[name] for name in ("push_error", "error", "note") if name in body]
    lines += [f"conflict: {file}" for file in body.get("files", ())]
    lines += [f"merged: {file}" for file in body.get("auto_resolved", ())]
    for name in ("renumbered", "renumbered_private"):
        lines += [f"renumbered: {each['from']} is {each['to']} now" for each in body.get(name, ())]
    lines += [RESOLVE_HINT] if body["status"] == "conflicts" else []
    return "\n".join([head, *lines])


@define_command(
    "status",
    "Show what a push would share and what the last fetch brought, without the network.",
    examples=["ctx knowledge sync status", "ctx knowledge sync status --json"],
)
def status(as_json: bool) -> int:
    """Show the state of the sync."""

    async def work(client: KnowledgeClient) -> Body:
        from ctx_memory.knowledge.sync.status import sync_status

        return await sync_status((await client.open()).store)

    show(run_with_knowledge(work), _status_text, as_json=as_json)
    return 0


def _status_text(body: Mapping[str, Any]) -> str:
    lines = [f"remote: {body['remote'] or 'none'}"]
    names = {"to_commit": "to commit", "to_push": "to push", "to_pull": "to pull"}
    for name, label in names.items():
        lines += [f"{label}: {path}" for path in body.get(name, ())]
    lines += [f"conflict: {path}" for path in body.get("conflicts", ())]
    lines += [RESOLVE_HINT] if "conflicts" in body else []
    lines += [body["note"]] if "note" in body else []
    return "\n".join(lines) if len(lines) > 1 else f"{lines[0]}\nnothing to share"


@define_command(
    "resolve",
    "Resolve the conflicts that a pull with `--strategy agent` found. Without arguments they are "
    "listed; with FILE alone both sides are shown. `--finish` commits the merge, and unresolved "
    "files keep our version.",
    no="there is no such conflict",
    examples=[
        "ctx knowledge sync resolve",
        "ctx knowledge sync resolve knowledge/architecture.md",
        "ctx knowledge sync resolve knowledge/architecture.md --take theirs",
        "ctx knowledge sync resolve --finish",
    ],
)
@click.argument("path", metavar="FILE", default="")
@click.option("--take", type=click.Choice(["ours", "theirs"]), help="Take this side's text.")
@click.option("--with", "source", metavar="FILE", help="Take the text of a file.")
@click.option("--finish", is_flag=True, help="Commit the merge.")
@click.option("--abort", is_flag=True, help="Give the merge up; nothing was changed by it.")
def resolve(
    path: str, take: str | None, source: str | None, finish: bool, abort: bool, as_json: bool
) -> int:
    """List, show, resolve, finish or abort."""
    if sum(map(bool, (take, source, finish, abort))) > 1 or (path and (finish or abort)):
        raise InvalidInput("resolve", "give one of FILE with --take or --with, --finish, --abort")
    if (take or source) and not path:
        raise InvalidInput("resolve", "name the FILE that --take or --with resolves")

    async def work(client: KnowledgeClient) -> Body:
        if finish or abort:
            return await client.call("context_merge_finalize" if finish else "context_merge_abort")
        if not path:
            return await client.call("context_merge_status")
        detail = await client.call("context_conflict_detail", file_path=path)
        if not take and not source:
            return detail
        content = _read(source) if source else str(detail[f"{take}_content"] or "")
        return await client.call("context_resolve_conflict", file_path=path, content=content)

    show(run_with_knowledge(work), _resolve_text, as_json=as_json)
    return 0


def _read(source: str) -> str:
    try:
        return Path(source).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("with", f"{source} cannot be read as text") from error


def _resolve_text(body: Mapping[str, Any]) -> str:
    if "diff" in body:
        return str(body["diff"]).rstrip()
    if "report" in body:
        marks = {True: "resolved", False: "open"}
        conflicts = body["report"]["conflicts"]
        return "\n".join(f"{marks[each['resolved']]}: {each['file_path']}" for each in conflicts)
    if "remaining" in body:
        return f"{body['file_path']}: resolved, {body['remaining']} left"
    return " ".join(str(body[name]) for name in ("status", "commit") if name in body)


sync = Group(
    "sync",
    ["ctx knowledge sync status", "ctx knowledge sync push"],
    commands=[push, pull, status, resolve],
    help="Share knowledge by git.",
)
