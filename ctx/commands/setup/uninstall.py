"""`ctx uninstall`: takes the servers out of clients."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.commands.setup.install import body_of, chosen_clients, file_of, with_plugin_client
from ctx.install.clients import SCOPES, Scope
from ctx.install.configuration import Edit, has_server, uninstall, without_servers
from ctx.install.instructions import FILES, without_block
from ctx.install.plugin import without_plugin
from ctx.install.servers import NAMES
from ctx.output import show
from ctx_core.settings import load

NOTHING = "no client has them"


@define_command(
    "uninstall",
    COMMANDS["uninstall"] + " A file that nothing else changed since is restored to the byte; from "
    "another only our servers are taken out.",
    examples=[
        "ctx uninstall",
        "ctx uninstall cursor --dry-run",
        "ctx uninstall codex --json",
        "ctx uninstall --plugin ~/.claude/skills/ctx",
    ],
    no=NOTHING,
)
@click.argument("clients", nargs=-1, metavar="[CLIENT]...")
@click.option("--scope", type=click.Choice(SCOPES), default="user", help="The files to change.")
@click.option("--instructions", is_flag=True, help="Out of this folder's AGENTS.md, CLAUDE.md too.")
@click.option(
    "--plugin",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Remove the plugin of Claude Code from this folder.",
)
@click.option("--dry-run", is_flag=True, help="Show the change, and write nothing.")
def command(
    clients: tuple[str, ...],
    scope: Scope,
    instructions: bool,
    plugin: Path | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Take the servers out of the files of the clients."""
    settings = load()
    edits: dict[str, Edit] = {}
    if plugin is not None:
        edits |= without_plugin(plugin.expanduser().absolute(), settings.data_dir)
    for client in chosen_clients(with_plugin_client(clients, plugin), Path.home()):
        if scope == "project" and client.project_file is None and not clients:
            continue
        file = file_of(client, scope)
        if any(has_server(client, file, name) for name in NAMES):
            edits[client.title] = without_servers(client, file, NAMES, settings.data_dir)
    for name in FILES if instructions else ():
        if edit := without_block(Path.cwd() / name, settings.data_dir):
            edits[name] = edit
    for edit in edits.values():
        if not dry_run:
            uninstall(edit, settings.data_dir)
    show(body_of(edits, dry_run=dry_run), _text, as_json=as_json)
    return 0 if edits else 1


def _text(body: Mapping[str, Any]) -> str:
    if not body["files"]:
        return f"{NOTHING.capitalize()}."
    if body["dry_run"]:
        return "".join(each["diff"] for each in body["files"]).rstrip()
    return "\n".join(f"{each['client']}: out of {each['file']}" for each in body["files"])
