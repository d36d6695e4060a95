"""`ctx memory list`, `show`, `edit` and `rm`."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import define_command
from ctx.exit_code import Exit
from ctx.memory_calls import Body, call_memory, memory_text, show_notes
from ctx.output import can_ask, confirm, show
from ctx.terminal import is_seen, table
from ctx.text_input import given_text
from ctx_core.errors import InvalidInput

TITLE_LENGTH = 80
NO_SUCH = "no memory has this id"


@define_command(
    "list",
    "List memories, newest first.",
    no="there are none",
    examples=["ctx memory list", "ctx memory list --topic deployment --limit 100 --json"],
)
@click.option("--limit", type=int, default=20, show_default=True, help="Most memories.")
@click.option("--offset", type=int, default=0, help="How many to skip.")
@click.option("--kind", help="Only this kind.")
@click.option("--topic", help="Only this topic.")
@click.option("--tags", metavar="A,B", help="Only with one of these tags.")
@click.option("--language", metavar="NAME", help="Only about this programming language.")
@click.option("--priority-min", type=int, help="Only at least this important.")
@click.option("--all", "include_forgotten", is_flag=True, help="Also expired and superseded ones.")
def list_memories(as_json: bool, **filters: Any) -> int:
    """List a page of memories."""
    body = call_memory("list_memories", **filters)
    show(body, _list_text, as_json=as_json)
    return Exit.DONE if body["results"] else Exit.NO


def _list_text(body: Mapping[str, Any]) -> str:
    if not body["results"]:
        return "No memory is here, or fits. Store one with: ctx remember TEXT"
    rows = [
        (
            each["id"],
            str(each["metadata"].get("created_at", ""))[:10],
            each["metadata"].get("topic") or each["metadata"].get("kind") or "",
            each["information"][:TITLE_LENGTH],
        )
        for each in body["results"]
    ]
    shown = table(["id", "created", "about", "text"], rows)
    more = body["total"] - body["offset"] - len(rows)
    return f"{shown}\n{more} more; see --offset" if is_seen() and more > 0 else shown


@define_command(
    "show",
    "Print a memory whole.",
    no=NO_SUCH,
    examples=[
        "ctx memory show 1f0c7a52-0000-4000-8000-000000000000",
        "ctx memory show 1f0c7a52-0000-4000-8000-000000000000 --json",
    ],
)
@click.argument("memory_id", metavar="ID")
def show_memory(memory_id: str, as_json: bool) -> int:
    """Print one memory."""
    show(_read(memory_id), memory_text, as_json=as_json)
    return Exit.DONE


def _read(memory_id: str) -> Body:
    memory: Body = call_memory("export_memories", memory_ids=[memory_id])["memories"][0]
    return memory


@define_command(
    "edit",
    "Correct the text of a memory: in your editor, or as given. - is standard input.",
    no=NO_SUCH,
    examples=[
        "ctx memory edit 1f0c7a52-0000-4000-8000-000000000000",
        "ctx memory edit 1f0c7a52-0000-4000-8000-000000000000 --text 'Deploys need the VPN.'",
    ],
)
@click.argument("memory_id", metavar="ID")
@click.option("--text", help="The new text.")
@click.option("--topic", help="The new topic.")
@click.option("--tags", metavar="A,B", help="The new tags, all of them.")
@click.option("--priority", type=int, help="From 1 to 10; 10 is most important.")
def edit(memory_id: str, text: str | None, as_json: bool, **fields: Any) -> int:
    """Change a memory."""
    patch = {name: value for name, value in fields.items() if value is not None}
    if text is None and not patch:
        text = _edited(_read(memory_id)["information"], as_json=as_json)
    changed = None if text is None else given_text(text)
    body = call_memory(
        "update_memory", memory_id=memory_id, information=changed, metadata_patch=patch or None
    )
    show(body, lambda done: f"Changed: {', '.join(done['updated']) or 'nothing'}", as_json=as_json)
    show_notes(body)
    return Exit.DONE


def _edited(text: str, *, as_json: bool) -> str:
    """Let a person edit a text. Raises InvalidInput where nobody can."""
    if not can_ask(as_json=as_json):
        raise InvalidInput("--text", "nobody can edit here: give the new text")
    edited = click.edit(text, extension=".md")
    return text if edited is None else edited.rstrip("\n")


@define_command(
    "rm",
    "Delete memories for good.",
    no=NO_SUCH,
    destroys=True,
    examples=[
        "ctx memory rm 1f0c7a52-0000-4000-8000-000000000000",
        "ctx memory rm 1f0c7a52-0000-4000-8000-000000000000 --yes --json",
    ],
)
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
def remove(memory_ids: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Delete memories, all or none."""
    confirm(f"Delete {_counted(len(memory_ids))} for good?", yes=yes, as_json=as_json)
    body = call_memory("delete_memory", memory_ids=list(memory_ids))
    show(body, lambda done: f"Deleted {_counted(done['deleted'])}.", as_json=as_json)
    show_notes(body)
    return Exit.DONE


def _counted(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"
