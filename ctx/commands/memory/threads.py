"""`ctx threads`: lists, shows, searches and deletes threads."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, Group, define_command
from ctx.exit_code import Exit
from ctx.memory_calls import call_memory, show_notes
from ctx.output import confirm, show
from ctx.terminal import colored, dimmed, table

PAGE = 100  # entries of a thread that one call reads


@define_command(
    "list",
    "List threads, the most recent first.",
    no="there are none",
    examples=["ctx threads list", "ctx threads list --limit 10 --json"],
)
@click.option("--limit", type=int, default=20, show_default=True, help="Most threads.")
@click.option("--offset", type=int, default=0, help="How many to skip.")
def list_threads(limit: int, offset: int, as_json: bool) -> int:
    """List a page of threads."""
    body = call_memory("list_threads", limit=limit, offset=offset)
    show(body, _list_text, as_json=as_json)
    show_notes(body)
    return Exit.DONE if body["threads"] else Exit.NO


def _list_text(body: Mapping[str, Any]) -> str:
    rows = [
        (
            each["thread_id"],
            each["entry_count"],
            ", ".join(f"{count} {source}" for source, count in each["sources"].items()),
            each["last_entry"],
        )
        for each in body["threads"]
    ]
    return table(["thread", "entries", "sources", "last"], rows) or "No threads."


@define_command(
    "show",
    "Print the entries of a thread whole, the oldest first.",
    no="there is no such thread",
    examples=["ctx threads show release-7", "ctx threads show release-7 --json"],
)
@click.argument("thread")
def show_thread(thread: str, as_json: bool) -> int:
    """Print all entries of one thread."""
    entries = _entries(thread)
    show({"thread_id": thread, "entries": entries}, _thread_text, as_json=as_json)
    return Exit.DONE if entries else Exit.NO


def _entries(thread: str) -> list[dict[str, Any]]:
    """Return the entries of a thread, whole, the oldest first."""
    ids: list[int] = []
    while True:
        page = call_memory("search_context", thread_id=thread, limit=PAGE, offset=len(ids))
        ids += [hit["id"] for hit in page["results"]]
        if not page["results"] or len(ids) >= page["total"]:
            break
    entries = []
    for start in range(0, len(ids), PAGE):
        wanted = [str(each) for each in ids[start : start + PAGE]]
        read = call_memory("get_context_by_ids", context_ids=wanted, include_images=False)
        entries += read["result"]
    return entries[::-1]


def _thread_text(body: Mapping[str, Any]) -> str:
    return "\n\n".join(map(_entry_text, body["entries"])) or "There is no such thread."


def _entry_text(entry: Mapping[str, Any]) -> str:
    text = "\n".join(f"    {line}" for line in entry["text_content"].splitlines())
    head = f"{colored(str(entry['id']), 'path')}  {entry['source']}  {dimmed(entry['created_at'])}"
    return f"{head}\n{text}"


@define_command(
    "search",
    "Search entries of threads by words and by meaning.",
    no="nothing is found",
    examples=["ctx threads search why was it rolled back", "ctx threads search queue --json"],
)
@click.argument("query", nargs=-1, required=True)
@click.option("--thread", "thread_id", metavar="THREAD", help="Only this thread.")
@click.option("--source", help="Only from here: user or agent.")
@click.option("--limit", type=int, default=5, show_default=True, help="Most results.")
def search(query: tuple[str, ...], as_json: bool, **filters: Any) -> int:
    """Search by the running memory server, or in this process."""
    body = call_memory("hybrid_search_context", query=" ".join(query), **filters)
    show(body, _hits_text, as_json=as_json)
    show_notes(body)
    return Exit.DONE if body["results"] else Exit.NO


def _hits_text(body: Mapping[str, Any]) -> str:
    hits = [f"{colored(hit['thread_id'], 'name')}  {_entry_text(hit)}" for hit in body["results"]]
    return "\n\n".join(hits) or "Nothing found."


@define_command(
    "rm",
    "Delete a thread for good, with all its entries.",
    no="there is no such thread",
    destroys=True,
    examples=["ctx threads rm release-7", "ctx threads rm release-7 --yes --json"],
)
@click.argument("thread")
def remove(thread: str, yes: bool, as_json: bool) -> int:
    """Delete one thread."""
    confirm(f"Delete the thread {thread} for good?", yes=yes, as_json=as_json)
    body = call_memory("delete_context", thread_id=thread)
    show(body, _deleted_text, as_json=as_json)
    return Exit.DONE if body["deleted_count"] else Exit.NO


def _deleted_text(body: Mapping[str, Any]) -> str:
    count = body["deleted_count"]
    return f"Deleted {count} entries." if count else "There is no such thread."


command = Group(
    "threads",
    ["ctx threads list", "ctx threads show release-7", "ctx threads search rollback"],
    commands=[list_threads, show_thread, search, remove],
    help=COMMANDS["threads"],
)
