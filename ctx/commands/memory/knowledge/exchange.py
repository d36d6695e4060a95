"""`ctx knowledge export` and `import`: bundles, and instruction files of agents."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ctx.cli import define_command
from ctx.knowledge import Body, KnowledgeClient, run_with_knowledge
from ctx.output import show
from ctx_core.errors import InvalidInput

MARKDOWN = (".md", ".mdc", ".markdown")
TYPES = ("convention", "knowledge")


@define_command(
    "export",
    "Write the knowledge of this project into one file: public entries, skills with what lies "
    "beside them, decisions, sessions and the team's preferences.",
    examples=[
        "ctx knowledge export team.ctxbundle",
        "ctx knowledge export ~/all.ctxbundle --private",
    ],
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--private", is_flag=True, help="Private entries too; FILE must lie elsewhere.")
def export_command(file: Path, private: bool, as_json: bool) -> int:
    """Write a bundle."""
    target = file.expanduser()

    async def work(client: KnowledgeClient) -> Body:
        from ctx_memory.knowledge.exchange.bundle import export_bundle

        store = (await client.open()).store
        count = await export_bundle(store, target, with_private=private)
        return {"status": "ok", "file": str(target), "files": count}

    body = run_with_knowledge(work)
    show(body, lambda done: f"{done['file']}: {done['files']} files", as_json=as_json)
    return 0


@define_command(
    "import",
    "Merge a bundle into this project, or propose the sections of an instruction file (AGENTS.md, "
    "CLAUDE.md) as entries: they are listed, and stored when accepted. Where a bundle has another "
    "text than this project, ours stays.",
    no="no proposal has an accepted key",
    examples=[
        "ctx knowledge import team.ctxbundle",
        "ctx knowledge import AGENTS.md",
        "ctx knowledge import AGENTS.md --accept testing --accept release",
        "ctx knowledge import CLAUDE.md --type knowledge --accept-all",
    ],
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Of a bundle: take its text instead of ours.")
@click.option("--accept", multiple=True, metavar="KEY", help="Store this proposal; repeatable.")
@click.option("--accept-all", is_flag=True, help="Store all proposals without a problem.")
@click.option(
    "--type", "entry_type", type=click.Choice(TYPES), default="convention", show_default=True,
    help="What the sections become.",
)  # fmt: skip
def import_command(
    file: Path,
    replace: bool,
    accept: tuple[str, ...],
    accept_all: bool,
    entry_type: str,
    as_json: bool,
) -> int:
    """Merge a bundle, or propose and accept the sections of a Markdown file."""
    source = file.expanduser()
    if source.suffix.lower() in MARKDOWN:
        if replace:
            raise InvalidInput("replace", "is for bundles")
        keys = None if accept_all else list(accept)
        body = run_with_knowledge(lambda client: _propose(client, source, entry_type, keys))
        show(body, _proposals_text, as_json=as_json)
        return 0
    if accept or accept_all:
        raise InvalidInput("accept", "is for Markdown files; a bundle is merged as a whole")
    body = run_with_knowledge(lambda client: _merge(client, source, replace=replace))
    show(body, _report_text, as_json=as_json)
    return 0


async def _merge(client: KnowledgeClient, source: Path, *, replace: bool) -> Body:
    from ctx_memory.knowledge.exchange.bundle import import_bundle

    store = (await client.open(to_write=True)).store
    return asdict(await import_bundle(store, source, replace=replace))


async def _propose(
    client: KnowledgeClient, source: Path, entry_type: str, keys: list[str] | None
) -> Body:
    from ctx_memory.knowledge.entry import EntryType
    from ctx_memory.knowledge.exchange.instructions import accept_entries, propose_entries

    kind = EntryType(entry_type)
    writes = keys is None or bool(keys)
    store = (await client.open(to_write=writes)).store
    proposed = await propose_entries(store, source, kind)
    author = client.knowledge.author()
    stored = await accept_entries(store, proposed, kind, keys, author) if writes else []
    return {"type": entry_type, "proposals": [asdict(each) for each in proposed], "stored": stored}


def _proposals_text(body: Mapping[str, Any]) -> str:
    if body["stored"]:
        return "\n".join(f"{key}: stored as {body['type']}" for key in body["stored"])
    lines = []
    for each in body["proposals"]:
        text = [line for line in each["content"].splitlines() if line.strip("# ")]
        lines.append(f"{each['key']}  {each['problem'] or text[-1 if len(text) == 1 else 1]}")
    return "\n".join(lines) or "No sections to propose."


def _report_text(body: Mapping[str, Any]) -> str:
    lines = [
        f"{name}: {path}" for name in ("added", "changed", "kept", "private") for path in body[name]
    ]
    lines += [f"renumbered: {each['from']} is {each['to']} now" for each in body["renumbered"]]
    return "\n".join(lines) or "Nothing new."
