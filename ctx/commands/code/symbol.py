"""`ctx symbol`: everything that a definition is related to."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.code.hits import definition, place
from ctx.code.question import ask_about_name, show_notes
from ctx.exit_code import Exit
from ctx.output import show
from ctx.terminal import colored, dimmed

RELATIONS = ("callers", "callees", "importers", "subclasses", "overrides")


@define_command(
    "symbol",
    COMMANDS["symbol"] + " NAME may be qualified, such as Session.send.",
    no="nothing is found",
    examples=[
        "ctx symbol Session.send",
        "ctx symbol Session --relation subclasses --relation overrides --depth 2",
        "ctx symbol load --json",
    ],
)
@click.argument("name")
@click.option(
    "--relation", "relations", multiple=True, type=click.Choice(RELATIONS), help="Only this one."
)
@click.option("--depth", type=int, default=1, show_default=True, help="How far to follow.")
@click.option("--limit", type=int, default=60, show_default=True, help="Most lines of a tree.")
@click.option("--repo", metavar="NAME", help="Only this repository; * is every one.")
def command(name: str, relations: tuple[str, ...], as_json: bool, **filters: Any) -> int:
    """Ask the running indexer, or in this process."""
    given = {"relations": list(relations) or None, **filters}
    body = ask_about_name("symbol_graph", name, given)
    show(body, _text, as_json=as_json)
    show_notes(body)
    return Exit.DONE if body["trees"] else Exit.NO


def _text(body: Mapping[str, Any]) -> str:
    return "\n\n".join(_tree(tree) for tree in body["trees"]) or "Nothing found."


def _tree(tree: Mapping[str, Any]) -> str:
    lines, relation = [f"{definition(tree['definition'])}: {tree['total']} related"], ""
    for node in tree["nodes"]:
        if node["relation"] != relation:
            relation = node["relation"]
            lines.append(f"{relation}:")
        symbol = colored(node["symbol"] or "(file)", "name")
        sure = dimmed(f"  possible: {node['possible']}") if "possible" in node else ""
        where = place(node["path"], node["line"])
        lines.append(f"{'  ' * node['depth']}{symbol}  {where}{sure}")
    return "\n".join(lines)
