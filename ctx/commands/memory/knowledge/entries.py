"""`ctx knowledge list`, `get`, `add`, `rm` and `search`."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ctx.cli import define_command
from ctx.exit_code import Exit
from ctx.knowledge import Body, KnowledgeClient, run_with_knowledge
from ctx.knowledge import search as search_knowledge
from ctx.output import confirm, show, show_note
from ctx_core.errors import InvalidInput

TYPES = ("knowledge", "convention", "decision", "skill")
SCOPES = ("public", "private")  # an ephemeral entry would end with the command
# What a path may begin with; every other path is the key of a knowledge entry.
SECTIONS = frozenset(
    "knowledge conventions decisions skills state preferences manifest history".split()
)
TITLE_LENGTH = 60

scope_option = click.option(
    "--scope", type=click.Choice(SCOPES), help="Default: as it is; public if new."
)
text_option = click.option("--text", metavar="TEXT", help="The text itself.")
file_option = click.option(
    "--file", "source", metavar="FILE", help="Read the text from here; - is standard input."
)


def given_text(text: str | None, source: str | None) -> str:
    """Return the text of an option or a file. Raises InvalidInput unless one of them is given."""
    if (text is None) == (source is None):
        raise InvalidInput("text", "give --text or --file")
    if text is not None:
        if not text.strip():
            raise InvalidInput("--text", "is empty")
        return text
    if source == "-":
        return sys.stdin.read()
    try:
        return Path(str(source)).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("file", f"{source} cannot be read as text") from error


@define_command(
    "list",
    "List entries of every type, with their scope.",
    examples=["ctx knowledge list", "ctx knowledge list --type decision --json"],
)
@click.option("--type", "entry_type", type=click.Choice(TYPES), help="Only this type.")
def list_entries(entry_type: str | None, as_json: bool) -> int:
    """List the entries of the project."""

    async def work(client: KnowledgeClient) -> Body:
        return await _listed(client, entry_type)

    show(run_with_knowledge(work), _list_text, as_json=as_json)
    return 0


async def _listed(client: KnowledgeClient, chosen: str | None) -> Body:
    from ctx_memory.knowledge.entry import EntryType

    store = (await client.open()).store
    kinds = [EntryType(chosen)] if chosen else list(EntryType)
    entries = [
        {
            "type": kind.value,
            "key": entry.key,
            "scope": entry.scope.value,
            "author": entry.author,
            "title": _title(entry.content),
        }
        for kind in kinds
        for entry in await store.all(kind)
    ]
    return {"project": store.project.name, "entries": entries}


def _title(content: str) -> str:
    """The first line with words; the description of a skill."""
    lines = (line.strip("# \t") for line in content.splitlines())
    described = [line for line in content.splitlines() if line.startswith("description:")]
    if content.startswith("---") and described:
        return described[0].partition(":")[2].strip()[:TITLE_LENGTH]
    return next((line for line in lines if line and line != "---"), "")[:TITLE_LENGTH]


def _list_text(body: Mapping[str, Any]) -> str:
    if not body["entries"]:
        return f"{body['project']} has no knowledge yet. See: ctx knowledge add --help"
    width = max(len(entry["key"]) for entry in body["entries"])
    return "\n".join(
        f"{entry['type']:<10}  {entry['key']:<{width}}  {entry['scope']:<8}  {entry['title']}"
        for entry in body["entries"]
    )


@define_command(
    "get",
    "Print an entry by its KEY, or a value by its path: conventions.KEY, decisions.1, skills.NAME, "
    "state, preferences.team, manifest.project.name, history.",
    no="there is none",
    examples=["ctx knowledge get architecture", "ctx knowledge get decisions.1 --json"],
)
@click.argument("path", metavar="KEY")
def get(path: str, as_json: bool) -> int:
    """Print a value."""
    is_path = path.partition(".")[0] in SECTIONS
    dotpath = path if is_path else f"knowledge.{path}"

    async def work(client: KnowledgeClient) -> Body:
        return await client.call("context_get", dotpath=dotpath)

    show(run_with_knowledge(work), value_text, as_json=as_json)
    return 0


def value_text(body: Mapping[str, Any]) -> str:
    """Write a value: a text as it is, anything else as JSON."""
    value = body["result"]
    shown = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    return shown.rstrip("\n")


@define_command(
    "add",
    "Add a knowledge entry, or replace it.",
    examples=[
        "ctx knowledge add architecture --text 'Two servers over one engine.'",
        "ctx knowledge add deployment --file docs/deployment.md",
        "ctx knowledge add my-notes --text 'Try the other queue.' --scope private",
    ],
)
@click.argument("key")
@text_option
@file_option
@scope_option
def add(key: str, text: str | None, source: str | None, scope: str | None, as_json: bool) -> int:
    """Write a knowledge entry."""
    return add_text("context_add_knowledge", key, given_text(text, source), scope, as_json=as_json)


def add_text(tool: str, key: str, content: str, scope: str | None, *, as_json: bool) -> int:
    """Add an entry by a tool, and print the key that it has."""

    async def work(client: KnowledgeClient) -> Body:
        return await client.call(tool, key=key, content=content, scope=scope or "")

    show(run_with_knowledge(work), key_text, as_json=as_json)
    return 0


def key_text(body: Mapping[str, Any]) -> str:
    """Write the answer about an entry."""
    note = f" ({body['note']})" if "note" in body else ""
    return f"{body['key']}: {body['status']}{note}"


@define_command(
    "rm",
    "Remove a knowledge entry.",
    no="there is none",
    destroys=True,
    examples=["ctx knowledge rm my-notes --yes", "ctx knowledge rm deployment --yes --json"],
)
@click.argument("key")
def remove(key: str, yes: bool, as_json: bool) -> int:
    """Remove a knowledge entry."""
    return remove_entry("context_remove_knowledge", key, yes=yes, as_json=as_json)


def remove_entry(tool: str, key: str, *, yes: bool, as_json: bool) -> int:
    """Remove an entry by a tool, once it is confirmed; 1 if there was none."""
    confirm(f"Remove {key}?", yes=yes, as_json=as_json)

    async def work(client: KnowledgeClient) -> Body:
        return await client.call(tool, key=key)

    body = run_with_knowledge(work)
    show(body, key_text, as_json=as_json)
    return Exit.DONE if body["status"] == "removed" else Exit.NO


@define_command(
    "search",
    "Search knowledge, decisions, conventions and skills by meaning and words. A running memory "
    "server is asked; without one the search runs here.",
    no="nothing is found",
    examples=["ctx knowledge search how are servers built", "ctx knowledge search engine --json"],
)
@click.argument("query", nargs=-1, required=True)
def search(query: tuple[str, ...], as_json: bool) -> int:
    """Search the project's knowledge."""
    body = asyncio.run(search_knowledge(" ".join(query)))
    show(body, _hits_text, as_json=as_json)
    for reason in {hit["degraded"] for hit in body["result"] if "degraded" in hit}:
        show_note(reason)
    return Exit.DONE if body["result"] else Exit.NO


def _hits_text(body: Mapping[str, Any]) -> str:
    hits = [f"{hit['file']}:{hit['line']}  {hit['text']}" for hit in body["result"]]
    return "\n".join(hits) or "Nothing found."
