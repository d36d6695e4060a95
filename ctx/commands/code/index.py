"""`ctx index`: brings the index up to date with a folder."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.client import RemoteClient, connect, find_connection, in_folder, workspace_setting
from ctx.output import show
from ctx.progress import ProgressBar
from ctx_core.errors import InvalidInput
from ctx_indexer.source.workspace import resolve_workspace

if TYPE_CHECKING:
    from ctx_core.settings import Settings

SHOWN_FAILURES = 10


@define_command(
    "index",
    COMMANDS["index"]
    + " PATH is this folder, or CTX_WORKSPACE, where it is left out. A running indexer does the "
    "work.",
    examples=[
        "ctx index",
        "ctx index ~/my-project",
        "ctx index ~/my-project --recreate",
        "ctx index ~/my-project --collection experiments --json",
        "ctx index --at http://indexer:8003/mcp",
    ],
)
@click.argument("path", required=False)
@click.option("--collection", metavar="NAME", help="Index into this collection.")
@click.option("--repo", metavar="NAME", help="Call the repository by this name.")
@click.option(
    "--recreate",
    is_flag=True,
    help="Build the collection anew, as after a change of EMBEDDING_MODEL; searches go on.",
)
@click.option(
    "--at", metavar="URL", help="Let the indexer at this address index its own workspace."
)
def command(
    path: str | None,
    collection: str | None,
    repo: str | None,
    recreate: bool,
    at: str | None,
    as_json: bool,
) -> int:
    """Index by the running indexer, or in this process."""
    given = {} if collection is None else {"collection": collection}
    if at is not None:
        if path is not None or repo is not None:
            raise InvalidInput("--at", "goes with neither PATH nor --repo")
        body = _index_at(at, {"recreate": recreate, **given}, as_json=as_json)
        show(body, report_text, as_json=as_json)
        return 0
    body = index_folder(path, repo, as_json=as_json, recreate=recreate, **given)
    show(body, report_text, as_json=as_json)
    return 0


def _index_at(url: str, arguments: dict[str, Any], *, as_json: bool) -> dict[str, Any]:
    """Let the server at an address index its workspace."""
    remote = RemoteClient(url, find_connection().token)
    with ProgressBar("files", as_json=as_json) as bar:
        return asyncio.run(remote.call("qdrant_index_root", arguments, bar.show))


def index_folder(
    path: str | None, repo: str | None = None, *, as_json: bool, **arguments: Any
) -> dict[str, Any]:
    """Bring the index up to date with a folder, and return the report. Raises CtxError."""
    with ProgressBar("files", as_json=as_json) as bar:
        folder = resolve_workspace(Path(path) if path else workspace_setting())
        arguments |= {"subdir": str(folder)}
        return asyncio.run(_index(folder, repo, arguments, bar))


async def _index(
    folder: Path, repo: str | None, arguments: dict[str, Any], bar: ProgressBar
) -> dict[str, Any]:
    def here(settings: "Settings") -> "Settings":
        return in_folder(settings, folder, repo)

    async with connect("indexer", here) as client:
        if repo and isinstance(client, RemoteClient):
            reason = "a running indexer names repos itself; set CURRENT_REPO there"
            raise InvalidInput("--repo", reason)
        return await client.call("qdrant_index", arguments, bar.show)


def report_text(body: Mapping[str, Any]) -> str:
    """Write the report of an index run."""
    stats = body["stats"]
    counts = ", ".join(
        f"{stats[f'files_{what}']} {what}" for what in ("added", "changed", "removed", "unchanged")
    )
    lines = [
        f"Indexed {body['repo']} into {body['collection']}"
        + (f", folder {body['subdir']}" if body["subdir"] else ""),
        f"  files    {counts}",
        f"  chunks   {stats['chunks_created']} in {stats['processing_time_seconds']:.1f} s",
    ]
    if stats["skipped"]:
        reasons = ", ".join(f"{count} {why}" for why, count in sorted(stats["skipped"].items()))
        lines.append(f"  skipped  {reasons}")
    if stats["redacted"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(stats["redacted"].items()))
        lines.append(f"  redacted {kinds}")
    if stats["copied"]:
        repos = ", ".join(f"{count} of {repo}" for repo, count in sorted(stats["copied"].items()))
        lines.append(f"  copied   {repos}: chunks as they were indexed before")
    lines += [f"  FAILED   {f['path']}: {f['reason']}" for f in stats["failures"][:SHOWN_FAILURES]]
    if (more := len(stats["failures"]) - SHOWN_FAILURES) > 0:
        lines.append(f"           and {more} more; --json lists them all")
    return "\n".join(lines)
