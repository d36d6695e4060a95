"""`ctx watch`: keeps the index of one folder up to date while it is worked on."""

import asyncio
import contextlib
import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.client import configure_logging, connect, in_folder
from ctx.exit_code import Exit
from ctx.output import show
from ctx.servers import connection_of, server_status
from ctx_core.blocking import DISK
from ctx_core.errors import SettingsInvalid
from ctx_core.settings import Settings, load
from ctx_indexer.source.workspace import resolve_workspace

if TYPE_CHECKING:
    from ctx_indexer.watch.status import Update, WorkspaceStatus
    from ctx_indexer.watch.watch import Watch

STATUS_SECONDS = 0.5  # between two looks whether a folder can be followed


@define_command(
    "watch",
    COMMANDS["watch"]
    + " FOLDER is this folder, or CTX_WORKSPACE, where it is left out. It is indexed first. A "
    "running indexer follows it from then on, and the command ends; else it runs until Ctrl-C and "
    "prints a line for each update.",
    examples=["ctx watch", "ctx watch ~/my-project", "ctx watch --json"],
)
@click.argument("folder", required=False)
def command(folder: str | None, as_json: bool) -> int:
    """Let the running indexer follow a folder, or follow it in this process."""
    settings = load()
    top = in_folder(settings, resolve_workspace(Path(folder or settings.workspace)))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(top, as_json))
    return Exit.DONE


async def _watch(settings: Settings, as_json: bool) -> None:
    status = await server_status(connection_of(settings), "indexer")
    if status.running:
        await _follow_there(settings, as_json)
    else:
        await _follow_here(settings, as_json)


async def _follow_there(settings: Settings, as_json: bool) -> None:
    """Say that the running indexer follows the workspace; it begins where it does not yet."""
    root = str(settings.workspace)
    followed = await _followed_there(settings, root)
    if followed is None:
        async with connect("indexer") as client:
            await client.call("qdrant_index", {"subdir": root})
        followed = await _followed_there(settings, root)
    body = {"ok": followed is not None, "by": "server", "watch": followed}
    show(body, lambda _: f"The running indexer follows {root}.", as_json=as_json)


async def _followed_there(settings: Settings, root: str) -> dict[str, Any] | None:
    """Return what the running indexer says of a workspace; None where it does not follow it."""
    status = await server_status(connection_of(settings), "indexer")
    if status.watch is None:
        raise SettingsInvalid(
            "the running indexer follows no files: start it with CTX_WATCH=1, or stop it and call "
            "`ctx watch` again"
        )
    return next((each for each in status.watch if each["path"] == root), None)


async def _follow_here(settings: Settings, as_json: bool) -> None:
    """Follow the workspace in this process until it is interrupted."""
    from ctx_core.background import BackgroundTasks
    from ctx_core.engine.engine import open_engine
    from ctx_core.serving.sessions import SessionDefaults
    from ctx_indexer.service import open_context
    from ctx_indexer.watch.watch import Watch

    configure_logging(settings)
    async with open_engine(settings, settings.code_model) as engine:
        context = await DISK.run(open_context, settings, engine, SessionDefaults())
        root = settings.workspace
        watch = Watch(context.indexer, on_update=lambda update: _show(update, as_json))
        try:
            async with BackgroundTasks().run("following files", partial(watch.run, known=False)):
                report = await context.indexer.index(
                    root, collection=settings.collection_name, repo=settings.current_repo
                )
                body = {"event": "indexed", "path": str(root), "files": report.files}
                _say(body, f"Indexed {root}, {report.files} files. Stop with Ctrl-C.", as_json)
                await _tell_states(watch, as_json)
        finally:
            context.close()


async def _tell_states(watch: "Watch", as_json: bool) -> None:
    """Print when the folder is followed another way than before, and why."""
    shown = "starting"
    while True:
        for status in watch.statuses():
            if status.state != shown:
                shown = status.state
                _say({"event": "state", **_state(status)}, _state_text(status), as_json)
        await asyncio.sleep(STATUS_SECONDS)


def _state(status: "WorkspaceStatus") -> dict[str, Any]:
    kept = ("path", "repo", "collection", "state", "pending", "watched_folders", "reason")
    return {key: value for key, value in asdict(status).items() if key in kept}


def _state_text(status: "WorkspaceStatus") -> str:
    if status.state == "following":
        return f"following {status.watched_folders} folders"
    return f"{status.state}: {status.reason}"


def _show(update: "Update", as_json: bool) -> None:
    report = update.report
    body = {
        "event": "update",
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "chunks": report.chunks,
        "failures": [asdict(each) for each in report.failures],
        "seconds": round(update.seconds, 3),
    }
    counts = [f"{body[what]} {what}" for what in ("added", "changed", "removed") if body[what]]
    text = f"{', '.join(counts)}; searchable after {update.seconds:.2f} s"
    _say(body, text, as_json)


def _say(body: dict[str, Any], text: str, as_json: bool) -> None:
    """Print a line; JSON is one object a line."""
    print(json.dumps(body) if as_json else text, flush=True, file=sys.stdout)
