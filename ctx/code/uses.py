"""How commands ask for the uses of a definition, and print them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from ctx.code.hits import definition, place
from ctx.code.question import Body, show_notes
from ctx.exit_code import Exit
from ctx.output import show
from ctx.terminal import colored, dimmed

F = TypeVar("F", bound=Callable[..., Any])


def use_options(run: F) -> F:
    """Add the options of a question about uses."""
    options = [
        click.option("--limit", type=int, default=50, show_default=True, help="Most results."),
        click.option("--language", metavar="NAME", help="Only this language."),
        click.option("--under", metavar="FOLDER", help="Only this folder and all below it."),
        click.option("--repo", metavar="NAME", help="Only this repository; * is every one."),
    ]
    for option in reversed(options):
        run = option(run)
    return run


def show_uses(body: Body, *, as_json: bool) -> int:
    """Print uses, a line each; the exit code says whether there are any."""
    show(body, _text, as_json=as_json)
    show_notes(body)
    return Exit.DONE if body["results"] else Exit.NO


def _text(body: Mapping[str, Any]) -> str:
    more = body["total"] - len(body["results"])
    last = [f"… {more} more; --limit shows more, --under narrows"] if more > 0 else []
    return "\n".join([_head(body), *(_line(use) for use in body["results"]), *last])


def _head(body: Mapping[str, Any]) -> str:
    first, *others = body["definitions"]
    defined = definition(first) + (f" and {len(others)} more" if others else "")
    unsure = "; there may be others that the code does not name" if body.get("warnings") else ""
    return f"{body['exact']} exact, {body['possible']} possible uses of {defined}{unsure}"


def _line(use: Mapping[str, Any]) -> str:
    text = str(use["snippet"]).partition(": ")[2]
    around = f"  in {colored(use['symbol'], 'name')}" if use["symbol"] else ""
    sure = "" if use["certainty"] == "exact" else dimmed(f"  possible: {use['reason']}")
    return f"{place(use['path'], use['start_line'])}  {text}{around}{sure}"
