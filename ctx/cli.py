"""The command `ctx`: a group that imports a command when it is called.

The libraries of the servers take more than a second to import; `ctx --help` needs none of them.
"""

from collections.abc import Mapping
from importlib import import_module

import click

from ctx.command import Command, Group, define_command
from ctx.exit_code import MEANINGS

__all__ = ["COMMANDS", "Command", "Group", "cli", "define_command"]

# Every command, by the folder of `ctx.commands` whose file NAME defines it as `command`; in the
# order of `ctx --help`.
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "servers": {
        "up": "Start both servers in one process.",
        "down": "Stop the servers that `ctx up` started.",
        "logs": "Show what the servers in the background wrote.",
        "stdio": "Speak MCP on standard input and output, for clients that start their servers.",
        "status": "Show which servers answer, and how.",
        "doctor": "Check everything, and say how to fix what is wrong.",
    },
    "code": {
        "init": "Index a project, and say how agents connect.",
        "index": "Index a folder; only what changed is processed.",
        "watch": "Keep the index of a folder up to date while it is worked on.",
        "search": "Search the code of this folder.",
        "ask": "Answer a question from the code, with its places.",
        "prompt": "Add the files and lines to a request that an agent will need.",
        "callers": "Find who calls a function or a class.",
        "importers": "Find who imports a function or a class.",
        "symbol": "Show everything that a definition is related to.",
        "tests": "Find the tests of something.",
        "config": "Find settings, build, CI and deployment files.",
        "history": "Show when and why code changed.",
    },
    "memory": {
        "remember": "Keep something worth remembering.",
        "recall": "Find what was remembered.",
        "memory": "List, show, correct, export and import memories.",
        "threads": "Read and search what agents noted in threads.",
        "knowledge": "Keep and share what everybody on this project should know.",
        "backup": "Write all records to one file.",
        "restore": "Write the records of a backup into an empty database.",
    },
    "setup": {
        "install": "Connect clients: Claude Code, Cursor, VS Code and more.",
        "uninstall": "Take the servers out of clients again.",
        "workspaces": "List the indexed folders, and drop one from the index.",
        "collections": "List, prune and drop collections of Qdrant.",
        "token": "Make, list and revoke tokens of teams: who may read or write what.",
        "settings": "Show every setting and its origin; set it in ctx.toml.",
        "model": "Fetch and choose the model that writes answers.",
        "completion": "Print what completes commands in a shell.",
        "version": "Show the version.",
    },
}
TITLES = {"servers": "Servers", "code": "Code", "memory": "Memory", "setup": "Set-up"}
COMMANDS: Mapping[str, str] = {
    name: summary for section in SECTIONS.values() for name, summary in section.items()
}
NAME_WIDTH = max(map(len, COMMANDS))
EXAMPLES = (
    "ctx up",
    "ctx index ~/my-project",
    "ctx search where are retries configured",
    "ctx status --json",
    "ctx doctor",
)
SETTINGS_HINT = (
    "Every command has --help, and --json for scripts. Settings are environment variables: see "
    "docs/configuration.md."
)


class LazyGroup(Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for section, names in SECTIONS.items():
            if cmd_name in names:
                module = import_module(f"ctx.commands.{section}.{cmd_name}")
                command: click.Command = module.command
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; of one that does not exist, name the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            if not (near := get_close_matches(args[0], COMMANDS, n=1)):
                raise
            said = f"No such command '{args[0]}'; did you mean '{near[0]}'?"
            raise click.UsageError(said, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        for section, names in SECTIONS.items():
            with formatter.section(TITLES[section]):
                formatter.write_dl([(f"{n:<{NAME_WIDTH}}", text) for n, text in names.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), text) for code, text in MEANINGS.items()])
        formatter.write_paragraph()
        formatter.write_text(SETTINGS_HINT)


cli = LazyGroup("ctx", EXAMPLES, help="Code search and memory for coding agents, over MCP.")
click.version_option(package_name="ctx-engine", message="ctx %(version)s")(cli)
