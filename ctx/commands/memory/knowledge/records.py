"""`ctx knowledge decision` and `ctx knowledge convention`."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import Group, define_command
from ctx.commands.memory.knowledge.entries import (
    add_text,
    file_option,
    given_text,
    remove_entry,
    scope_option,
    text_option,
    value_text,
)
from ctx.knowledge import Body, KnowledgeClient, run_with_knowledge
from ctx.output import show


@define_command(
    "list",
    "List all decisions.",
    examples=["ctx knowledge decision list", "ctx knowledge decision list --json"],
)
def list_decisions(as_json: bool) -> int:
    """List decisions by number."""

    async def work(client: KnowledgeClient) -> Body:
        return await client.call("context_get", dotpath="decisions")

    show(run_with_knowledge(work), _decisions_text, as_json=as_json)
    return 0


def _decisions_text(body: Mapping[str, Any]) -> str:
    lines = [f"{each['id']:04d}  {each['status']:<10}  {each['title']}" for each in body["result"]]
    return "\n".join(lines) or "No decisions recorded yet."


@define_command(
    "show",
    "Print a decision by its number or a part of its title.",
    no="there is none",
    examples=["ctx knowledge decision show 1", "ctx knowledge decision show postgresql --json"],
)
@click.argument("reference", metavar="NUMBER")
def show_decision(reference: str, as_json: bool) -> int:
    """Print one decision."""

    async def work(client: KnowledgeClient) -> Body:
        found: Body = (await client.call("context_get", dotpath=f"decisions.{reference}"))["result"]
        return found

    show(run_with_knowledge(work), _decision_text, as_json=as_json)
    return 0


def _decision_text(body: Mapping[str, Any]) -> str:
    head = f"{body['id']:04d} - {body['title']}\n{body['status']}, {body['date']}, {body['author']}"
    parts = [
        f"{name.capitalize()}: {body[name]}"
        for name in ("context", "decision", "consequences")
        if body[name]
    ]
    return "\n\n".join([head, *parts])


@define_command(
    "add",
    "Record a decision under the next number.",
    examples=[
        "ctx knowledge decision add 'Use PostgreSQL' --context 'We need transactions.'",
        "ctx knowledge decision add 'Keep SQLite' --decision 'For one machine.' --scope private",
    ],
)
@click.argument("title")
@click.option("--context", default="", help="Why it was needed.")
@click.option("--decision", default="", help="What was decided.")
@click.option("--consequences", default="", help="What follows from it.")
@scope_option
def add_decision(as_json: bool, scope: str | None, **fields: str) -> int:
    """Record a decision."""

    async def work(client: KnowledgeClient) -> Body:
        return await client.call("context_record_decision", scope=scope or "", **fields)

    show(run_with_knowledge(work), lambda body: f"{body['id']:04d}: recorded", as_json=as_json)
    return 0


decisions = Group(
    "decision",
    ["ctx knowledge decision list", "ctx knowledge decision add 'Use PostgreSQL'"],
    commands=[list_decisions, show_decision, add_decision],
    help="Record and read decisions.",
)


@define_command(
    "list",
    "List all conventions.",
    examples=["ctx knowledge convention list", "ctx knowledge convention list --json"],
)
def list_conventions(as_json: bool) -> int:
    """List conventions with their text."""

    async def work(client: KnowledgeClient) -> Body:
        return await client.call("context_list_conventions")

    show(run_with_knowledge(work), _conventions_text, as_json=as_json)
    return 0


def _conventions_text(body: Mapping[str, Any]) -> str:
    texts = [f"{each['key']} ({each['scope']})\n{each['content']}" for each in body["result"]]
    return "\n\n".join(text.rstrip() for text in texts) or "No conventions yet."


@define_command(
    "show",
    "Print a convention.",
    no="there is none",
    examples=["ctx knowledge convention show git", "ctx knowledge convention show git --json"],
)
@click.argument("key")
def show_convention(key: str, as_json: bool) -> int:
    """Print one convention."""

    async def work(client: KnowledgeClient) -> Body:
        return await client.call("context_get_convention", key=key)

    show(run_with_knowledge(work), lambda body: value_text({"result": body["content"]}),
         as_json=as_json)  # fmt: skip
    return 0


@define_command(
    "add",
    "Add a convention, or replace it.",
    examples=[
        "ctx knowledge convention add git --text 'Feature branches; no force-push to main.'",
        "ctx knowledge convention add style --file docs/style.md --scope private",
    ],
)
@click.argument("key")
@text_option
@file_option
@scope_option
def add_convention(
    key: str, text: str | None, source: str | None, scope: str | None, as_json: bool
) -> int:
    """Write a convention."""
    return add_text("context_add_convention", key, given_text(text, source), scope, as_json=as_json)


@define_command(
    "rm",
    "Remove a convention.",
    no="there is none",
    destroys=True,
    examples=[
        "ctx knowledge convention rm style --yes",
        "ctx knowledge convention rm git --yes --json",
    ],
)
@click.argument("key")
def remove_convention(key: str, yes: bool, as_json: bool) -> int:
    """Remove a convention."""
    return remove_entry("context_rm_convention", key, yes=yes, as_json=as_json)


conventions = Group(
    "convention",
    ["ctx knowledge convention list", "ctx knowledge convention show git"],
    commands=[list_conventions, show_convention, add_convention, remove_convention],
    help="Keep rules that every agent follows here.",
)
