"""How commands print code that was found."""

from collections.abc import Mapping
from typing import Any

from ctx.code.question import Body, show_notes
from ctx.exit_code import Exit
from ctx.output import show
from ctx.terminal import colored, dimmed, path_from_here

SHOWN_LINES = 12  # of a snippet; --json has it whole


def show_hits(body: Body, *, as_json: bool) -> int:
    """Print the hits of a search; the exit code says whether there are any."""
    show(body, _text, as_json=as_json)
    show_notes(body)
    return Exit.DONE if body["results"] else Exit.NO


def place(path: str, first: int, last: int | None = None) -> str:
    """Return where something is, as editors and terminals understand it."""
    lines = f"{first}" if last is None else f"{first}-{last}"
    return colored(f"{path_from_here(path)}:{lines}", "path")


def definition(said: str) -> str:
    """Return a definition, `path:line name`, as seen from this folder."""
    path, colon, rest = said.partition(":")
    return f"{path_from_here(path)}{colon}{rest}"


def _text(body: Mapping[str, Any]) -> str:
    if not body["results"]:
        return "Nothing found."
    return "\n\n".join(_hit(hit) for hit in body["results"])


def _hit(hit: Mapping[str, Any]) -> str:
    symbol = colored(hit["symbol"] or hit["metadata"]["kind"], "name")
    head = f"{place(hit['path'], hit['start_line'], hit['end_line'])}  {symbol}"
    lines = hit.get("snippet", "").splitlines()
    more = [f"    … {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    shown = [f"    {line}" for line in lines[:SHOWN_LINES]]
    return "\n".join([f"{head}  {dimmed(str(hit['score']))}", *shown, *more])
