"""`ctx prompt`: a request with the files and lines that an agent will need."""

import shlex
import subprocess
from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.code.question import ask_indexer, show_notes
from ctx.exit_code import Exit
from ctx.output import show
from ctx.terminal import path_from_here
from ctx_core.environment.child_environment import child_environment
from ctx_core.errors import InvalidInput

DETAIL_LINES = 4  # of each place with --detail


@define_command(
    "prompt",
    COMMANDS["prompt"] + " REQUEST is what an agent shall do; no model is needed.",
    no="no code fits the request; it is printed as it is",
    examples=[
        'ctx prompt "add a timeout to the retry policy"',
        'ctx prompt "why do sessions expire early" --detail',
        "ctx prompt fix the pool --cmd 'claude -p'",
    ],
)
@click.argument("request", nargs=-1, required=True)
@click.option("--detail", is_flag=True, help="With the first lines of each place.")
@click.option("--cmd", metavar="COMMAND", help="Pipe the prompt into this command.")
@click.option("--limit", type=int, default=5, show_default=True, help="Most places.")
@click.option("--language", metavar="NAME", help="Only this language.")
@click.option("--under", metavar="FOLDER", help="Only this folder and all below it.")
@click.option("--kind", metavar="KIND", help="Only function, class, method, …")
@click.option("--symbol", metavar="NAME", help="Only where this name is defined.")
@click.option("--path-glob", metavar="GLOB", help="Only paths that match.")
@click.option("--repo", metavar="NAME", help="Only this repository; * is every one.")
def command(
    request: tuple[str, ...], detail: bool, cmd: str | None, as_json: bool, **filters: Any
) -> int:
    """Search for the request, and write it with what was found."""
    if cmd is not None and as_json:
        raise InvalidInput("--cmd", "prints what the command prints; leave out --json")
    asked = " ".join(request)
    found = ask_indexer("repo_search", {"query": asked, "context_lines": 0, **filters})
    prompt = write_prompt(asked, found, detail=detail)
    show_notes(found)
    if cmd is not None:
        return pipe_into(cmd, prompt)
    show({"ok": True, "prompt": prompt}, lambda body: str(body["prompt"]), as_json=as_json)
    return Exit.DONE if found["results"] else Exit.NO


def pipe_into(command: str, prompt: str) -> int:
    """Run a command with a prompt on its standard input, and return its exit code.

    Raises InvalidInput where it cannot be started.
    """
    try:
        words = shlex.split(command)
        if not words:
            raise InvalidInput("--cmd", "is empty; name a command, such as 'claude -p'")
        return subprocess.run(
            words, input=prompt, text=True, env=child_environment(), check=False
        ).returncode
    except (OSError, ValueError) as error:
        raise InvalidInput("--cmd", f"{command} cannot be started: {error}") from error


def write_prompt(request: str, found: Mapping[str, Any], *, detail: bool) -> str:
    """Write a request and the places that fit it, `path:first-last` with the symbol."""
    if not found["results"]:
        return request
    lines = [request, "", "Relevant code:"]
    for hit in found["results"]:
        symbol = f" {hit['symbol']}" if hit["symbol"] else ""
        lines.append(
            f"- {path_from_here(hit['path'])}:{hit['start_line']}-{hit['end_line']}{symbol}"
        )
        if detail:
            shown = hit.get("snippet", "").splitlines()[:DETAIL_LINES]
            lines += [f"    {line.partition(chr(9))[2]}" for line in shown]
    return "\n".join(lines)
