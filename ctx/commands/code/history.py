"""`ctx history`: when and why code changed."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.code.question import ask_indexer, show_notes
from ctx.exit_code import Exit
from ctx.output import show
from ctx.terminal import colored, dimmed
from ctx_core.errors import InvalidInput

SHORT_ID = 10  # characters of a commit's id, which name it


@define_command(
    "history",
    COMMANDS["history"]
    + " PATH shows the commits of a file, across renames; --search finds commits by what they "
    "changed, in PATH or everywhere.",
    no="nothing is found",
    examples=[
        "ctx history src/retry.py",
        "ctx history --search 'why is the queue bounded'",
        "ctx history src --search retry --limit 5 --json",
    ],
)
@click.argument("path", required=False)
@click.option("--search", "query", metavar="WORDS", help="What was changed, or why.")
@click.option("--limit", type=int, default=20, show_default=True, help="Most commits.")
@click.option("--repo", metavar="NAME", help="Only this repository; * is every one.")
def command(path: str | None, query: str | None, as_json: bool, **filters: Any) -> int:
    """Ask the running indexer, or in this process."""
    if query is not None:
        body = ask_indexer("search_commits_for", {"query": query, "path": path, **filters})
        commits = body["results"]
    elif path is not None:
        body = ask_indexer("change_history_for_path", {"path": path, **filters})
        commits = body["summary"].get("commits", [])
    else:
        raise InvalidInput("PATH", "name a file, or what to look for with --search")
    show(body, lambda _: "\n".join(map(_line, commits)) or "No commits found.", as_json=as_json)
    show_notes(body)
    return Exit.DONE if commits else Exit.NO


def _line(commit: Mapping[str, Any]) -> str:
    short = colored(commit["commit_id"][:SHORT_ID], "path")
    subject = commit["message"].partition("\n")[0]
    return f"{short}  {commit['authored_date'][:10]}  {dimmed(commit['author_name'])}  {subject}"
