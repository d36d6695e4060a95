"""`ctx completion`: the script that completes commands and options in a shell."""

from typing import Any

import click

from ctx.cli import COMMANDS, cli, define_command
from ctx.exit_code import Exit
from ctx.output import show

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_CTX_COMPLETE"


@define_command(
    "completion",
    COMMANDS["completion"]
    + ' Of bash and zsh put eval "$(ctx completion bash)" into the start-up file; of fish write it '
    "to ~/.config/fish/completions/ctx.fish.",
    examples=["ctx completion bash", "ctx completion fish --json"],
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str, as_json: bool) -> int:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "ctx", VARIABLE).source()
    body: dict[str, Any] = {"ok": True, "shell": shell, "script": script}
    show(body, lambda done: str(done["script"]), as_json=as_json)
    return Exit.DONE
