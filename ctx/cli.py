"""The command `ctx`: a group that imports a command when it is called.

The libraries of the servers take more than a second to import; `ctx --help` needs none of them.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from ctx.output import exit_code, show_error
from services.core.errors import CtxError

# Every command, in the order of `ctx --help`; `ctx.commands.NAME` defines it as `command`.
COMMANDS: Mapping[str, str] = {
    "up": "Start both servers in one process.",
    "index": "Index a folder; only what changed is processed.",
    "search": "Search the code of this folder.",
    "knowledge": "Keep and share what everybody on this project should know.",
    "memory": "Maintain the memories.",
    "status": "Show which servers answer, and how.",
    "doctor": "Check everything, and say how to fix what is wrong.",
    "version": "Show the version.",
}
EXAMPLES = (
    "ctx up",
    "ctx index ~/my-project",
    "ctx search where are retries configured",
    "ctx status --json",
    "ctx doctor",
)
SETTINGS_HINT = "Settings are environment variables: see docs/configuration.md."


class Command(click.Command):
    """A command with `--json`, with examples, and with one way to report an error."""

    def __init__(self, name: str, examples: Sequence[str], **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.examples = examples
        self.params.append(
            click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for scripts.")
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a CtxError becomes a message and an exit code."""
        try:
            return super().invoke(ctx)
        except CtxError as error:
            show_error(error, as_json=ctx.params["as_json"])
            return exit_code(error)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_examples(formatter, self.examples)


class Group(click.Group):
    """A group of commands with examples."""

    def __init__(self, name: str, examples: Sequence[str], **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_examples(formatter, self.examples)


class LazyGroup(Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"ctx.commands.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; that a reader closes the pipe early, as `head` does, is no error."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return code

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(SETTINGS_HINT)


def define_command(
    name: str, text: str, *, examples: Sequence[str]
) -> Callable[[Callable[..., int]], Command]:
    """Make a Command of a function that returns the exit code; `text` is its help."""

    def decorate(run: Callable[..., int]) -> Command:
        parameters = list(reversed(getattr(run, "__click_params__", [])))
        return Command(name, examples, callback=run, params=parameters, help=text)

    return decorate


def _write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    with formatter.section("Examples"):
        formatter.write("".join(f"  {example}\n" for example in examples))


cli = LazyGroup("ctx", EXAMPLES, help="Code search and memory for coding agents, over MCP.")
click.version_option(package_name="ctx-engine", message="ctx %(version)s")(cli)
