"""`ctx install`: tells clients where the servers are."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.install.clients import (
    CLIENTS,
    SCOPES,
    TRANSPORTS,
    Client,
    Scope,
    Transport,
    Wish,
    installed_clients,
)
from ctx.install.configuration import Edit, install, with_servers
from ctx.install.instructions import FILES, with_block
from ctx.install.links import LINKS
from ctx.install.plugin import with_plugin
from ctx.install.servers import (
    NAMES,
    TOOLSETS,
    check_variable,
    endpoint_of_both,
    endpoints,
    set_variables,
)
from ctx.output import show
from ctx_core.errors import InvalidInput
from ctx_core.settings import load

NO_CLIENT = "no client is found here"
PLUGIN_CLIENT = CLIENTS["claude-code"]


@define_command(
    "install",
    COMMANDS["install"]
    + " CLIENT is "
    + ", ".join(CLIENTS)
    + "; without one, every client whose settings are found. What a file has stays, with its "
    "comments; a copy FILE.before-ctx is kept, and `ctx uninstall` restores it.",
    examples=[
        "ctx install",
        "ctx install cursor --dry-run",
        "ctx install claude-code --scope project",
        "ctx install claude-code --instructions",
        "ctx install claude-code --plugin ~/.claude/skills/ctx",
        "ctx install cursor --link",
        "ctx install codex --token-env MCP_CTX_TOKEN --toolset lean",
    ],
    no=NO_CLIENT,
)
@click.argument("clients", nargs=-1, metavar="[CLIENT]...")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default="user",
    help="For you everywhere, or for everybody in this folder's project.",
)
@click.option(
    "--transport",
    type=click.Choice(TRANSPORTS),
    default="http",
    help="HTTP or SSE at the running servers, or a process of the client. SSE goes through "
    "mcp-remote, except for Claude Code.",
)
@click.option(
    "--toolset", type=click.Choice(TOOLSETS), help="Offer this toolset only, such as lean."
)
@click.option("--read-only", is_flag=True, help="Offer only tools that write nothing.")
@click.option("--two-entries", is_flag=True, help="One entry a server, as over SSE.")
@click.option("--token-env", metavar="VARIABLE", help="The variable that has the bearer token.")
@click.option(
    "--instructions",
    is_flag=True,
    help="Tell agents of this folder in AGENTS.md, and CLAUDE.md for Claude Code, when to use it.",
)
@click.option(
    "--plugin",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Make a plugin of Claude Code in this folder, instead of an entry in its settings: the "
    "servers, a skill, and a hook that tells each session what is indexed.",
)
@click.option(
    "--link",
    is_flag=True,
    help="Print links that add the servers to Cursor or VS Code, and write nothing.",
)
@click.option("--dry-run", is_flag=True, help="Show the change, and write nothing.")
def command(
    clients: tuple[str, ...],
    scope: Scope,
    transport: Transport,
    toolset: str | None,
    read_only: bool,
    two_entries: bool,
    token_env: str | None,
    instructions: bool,
    plugin: Path | None,
    link: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Write the servers into the files of the clients: all are planned before one is written."""
    check_variable(token_env)
    if transport != "http" and toolset is not None:
        raise InvalidInput("--toolset", "goes with --transport http; others take CTX_TOOLSETS")
    settings = load()
    headers = {"X-MCP-Readonly": "true"} if read_only else None
    wish = Wish(transport, headers, token_env, set_variables())
    together = transport != "sse" and not two_entries
    servers = [endpoint_of_both(settings, toolset)] if together else endpoints(settings, toolset)

    def entries_of(client: Client) -> dict[str, dict[str, Any]]:
        return {each.name: client.entry(each, wish) for each in servers}

    if link:
        links = links_of(clients or tuple(LINKS), entries_of)
        show({"ok": True, "links": links}, _links_text, as_json=as_json)
        return 0
    chosen = chosen_clients(with_plugin_client(clients, plugin), Path.home())
    edits: dict[str, Edit] = {}
    for client in chosen:
        entries = entries_of(client)
        if plugin is not None and client is PLUGIN_CLIENT:
            edits |= with_plugin(plugin.expanduser().absolute(), entries)
        else:
            edits[client.title] = with_servers(client, file_of(client, scope), entries, NAMES)
    if instructions:
        names = FILES if PLUGIN_CLIENT in chosen else FILES[:1]
        edits |= {name: with_block(Path.cwd() / name) for name in names}
    for edit in edits.values():
        if not dry_run and edit.changes:
            install(edit, settings.data_dir)
    show(body_of(edits, dry_run=dry_run), _text, as_json=as_json)
    return 0 if edits else 1


def with_plugin_client(names: tuple[str, ...], plugin: Path | None) -> tuple[str, ...]:
    """Return the named clients; a plugin means Claude Code. Raises InvalidInput for another."""
    if plugin is None:
        return names
    if names and PLUGIN_CLIENT.name not in names:
        raise InvalidInput("--plugin", f"is for {PLUGIN_CLIENT.name}, which is not named")
    return names or (PLUGIN_CLIENT.name,)


def links_of(
    names: tuple[str, ...], entries_of: Callable[[Client], Mapping[str, Mapping[str, Any]]]
) -> list[dict[str, str]]:
    """Return a link for each client and server. Raises InvalidInput for a client without links."""
    if unknown := [name for name in names if name not in LINKS]:
        raise InvalidInput("--link", f"{', '.join(unknown)}: only {', '.join(LINKS)} have links")
    return [
        {"client": CLIENTS[name].title, "server": server, "link": LINKS[name](server, entry)}
        for name in names
        for server, entry in entries_of(CLIENTS[name]).items()
    ]


def chosen_clients(names: tuple[str, ...], home: Path) -> list[Client]:
    """Return the clients of these names; without names, the installed ones. Raises InvalidInput."""
    if unknown := [name for name in names if name not in CLIENTS]:
        raise InvalidInput("CLIENT", f"no {', '.join(unknown)}; there are {', '.join(CLIENTS)}")
    return [CLIENTS[name] for name in names] if names else installed_clients(home)


def file_of(client: Client, scope: Scope) -> Path:
    """Return the file of a client's scope. Raises InvalidInput where it has none."""
    file = client.file(scope, Path.home(), Path.cwd())
    if file is None:
        raise InvalidInput("--scope", f"{client.title} has no settings of a project; use user")
    return file


def body_of(edits: Mapping[str, Edit], *, dry_run: bool) -> dict[str, Any]:
    """Return each file with its change, which a dry run leaves undone."""
    files = [
        {"client": title, "file": str(edit.file), "changed": edit.changes, "diff": edit.diff()}
        for title, edit in edits.items()
    ]
    return {"ok": True, "dry_run": dry_run, "files": files}


def _links_text(body: Mapping[str, Any]) -> str:
    return "\n".join(f"{each['client']}\t{each['link']}" for each in body["links"])


def _text(body: Mapping[str, Any]) -> str:
    if not body["files"]:
        return f"{NO_CLIENT.capitalize()}: name one, {', '.join(CLIENTS)}."
    if body["dry_run"]:
        return "".join(
            each["diff"] or f"{each['file']}: no change\n" for each in body["files"]
        ).rstrip()
    lines = [
        f"{each['client']}: {each['file']}" + ("" if each["changed"] else " (as it was)")
        for each in body["files"]
    ]
    return "\n".join([*lines, "Start the servers with `ctx up`, then start the client again."])
