"""The frame that every command shares: `--json`, examples, exit codes, errors, `--yes`."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from ctx.exit_code import MEANINGS, Exit, exit_code
from ctx.output import show_error
from ctx_core.errors import CtxError

JSON_OPTION = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for scripts.")
YES_OPTION = click.Option(["--yes"], is_flag=True, help="Do not ask before something is destroyed.")


class Command(click.Command):
    """A command with `--json`, examples and exit codes, and with one way to report an error.

    `no` says when it ends with 1, None where it never does.
    """

    def __init__(
        self, name: str, examples: Sequence[str], no: str | None = None, **attributes: Any
    ) -> None:
        super().__init__(name, **attributes)
        self.examples = examples
        self.no = no
        self.params.append(JSON_OPTION)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a CtxError becomes a message and an exit code."""
        try:
            return super().invoke(ctx)
        except CtxError as error:
            show_error(error, as_json=ctx.params["as_json"])
            return exit_code(error)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, self.examples)
        meanings = {**MEANINGS, Exit.NO: self.no}
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), text) for code, text in meanings.items() if text])


class Group(click.Group):
    """A group of commands with examples."""

    def __init__(self, name: str, examples: Sequence[str], **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, self.examples)


def define_command(
    name: str, text: str, *, examples: Sequence[str], no: str | None = None, destroys: bool = False
) -> Callable[[Callable[..., int]], Command]:
    """Make a Command of a function that returns the exit code; `text` is its help.

    `no` says when that is 1. A command that `destroys` has `--yes`, and calls `confirm`.
    """

    def decorate(run: Callable[..., int]) -> Command:
        parameters = list(reversed(getattr(run, "__click_params__", [])))
        parameters += [YES_OPTION] if destroys else []
        return Command(name, examples, no, callback=run, params=parameters, help=text)

    return decorate


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Write the examples of a command, one a line."""
    with formatter.section("Examples"):
        formatter.write("".join(f"  {example}\n" for example in examples))
