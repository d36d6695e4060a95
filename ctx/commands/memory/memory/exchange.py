"""`ctx memory export` and `import`: all memories as JSON lines, with nothing lost."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import click

from ctx.cli import define_command
from ctx.client import connect
from ctx.exit_code import Exit
from ctx.memory_calls import Body, show_notes
from ctx.output import show
from ctx.progress import ProgressBar
from ctx.text_input import STANDARD_INPUT
from ctx_core.errors import InvalidInput

PAGE = 200  # memories in one call


@define_command(
    "export",
    "Write every memory of every collection to FILE, one JSON object a line, also expired and "
    "superseded ones. - is standard output.",
    examples=[
        "ctx memory export memories.jsonl",
        "ctx memory export -",
        "ctx memory export memories.jsonl --json",
    ],
)
@click.argument("file")
def export_command(file: str, as_json: bool) -> int:
    """Export by the running memory server, or in this process."""
    if file == STANDARD_INPUT and as_json:
        raise InvalidInput("FILE", "- prints the memories, which are JSON; leave out --json")
    with ProgressBar("memories", as_json=as_json) as bar:
        count = asyncio.run(_export(file, bar))
    body = {"ok": True, "file": file, "memories": count}
    if file != STANDARD_INPUT:
        show(body, lambda done: f"{done['file']}: {done['memories']} memories", as_json=as_json)
    return Exit.DONE


async def _export(file: str, bar: ProgressBar) -> int:
    count, after = 0, 0
    async with connect("memory") as client:
        with _opened(file) as target:
            while True:
                page = await client.call("export_memories", {"after": after, "limit": PAGE})
                for memory in page["memories"]:
                    target.write(json.dumps(memory) + "\n")
                count += len(page["memories"])
                await bar.show(count, page["total"], None)
                if page["next"] is None:
                    return count
                after = page["next"]


@contextlib.contextmanager
def _opened(file: str) -> Iterator[IO[str]]:
    """Open a file that appears when it is whole. Raises InvalidInput where it cannot be written."""
    if file == STANDARD_INPUT:
        yield sys.stdout
        return
    target = Path(file).expanduser()
    partial = target.with_name(f".{target.name}.partial")
    try:
        with partial.open("w", encoding="utf-8") as opened:
            yield opened
        partial.replace(target)
    except OSError as error:
        raise InvalidInput("file", f"{file} cannot be written: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


@define_command(
    "import",
    "Store what `ctx memory export` wrote, with the same ids and times. A memory that is known "
    "already stays as it is. - is standard input.",
    examples=[
        "ctx memory import memories.jsonl",
        "ctx memory import memories.jsonl --replace",
        "ctx memory import - --json",
    ],
)
@click.argument("file")
@click.option("--replace", is_flag=True, help="Of known memories take the text of the file.")
def import_command(file: str, replace: bool, as_json: bool) -> int:
    """Import by the running memory server, or in this process."""
    memories = _read(file)
    with ProgressBar("memories", as_json=as_json) as bar:
        body = asyncio.run(_import(memories, replace, bar))
    show(body, _import_text, as_json=as_json)
    show_notes(body)
    return Exit.DONE


def _read(file: str) -> list[Any]:
    """Return the objects of a file, all of which are JSON. Raises InvalidInput with the line."""
    try:
        given = sys.stdin if file == STANDARD_INPUT else None
        text = given.read() if given else Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("file", f"{file} cannot be read as text") from error
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise InvalidInput("file", f"line {number} of {file} is no JSON") from error
    return found


async def _import(memories: list[Any], replace: bool, bar: ProgressBar) -> Body:
    total: Body = {"ok": True, "added": 0, "replaced": 0, "kept": 0, "degraded": []}
    async with connect("memory") as client:
        for start in range(0, len(memories), PAGE):
            page = memories[start : start + PAGE]
            done = await client.call("import_memories", {"exported": page, "replace": replace})
            for name in ("added", "replaced", "kept"):
                total[name] += done[name]
            total["degraded"] = done["degraded"] or total["degraded"]
            await bar.show(start + len(page), len(memories), None)
    return total


def _import_text(body: Mapping[str, Any]) -> str:
    return f"{body['added']} added, {body['replaced']} replaced, {body['kept']} kept as they were."
