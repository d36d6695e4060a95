"""`ctx index`: brings the index up to date with a folder, by a running indexer or by itself."""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctx.output import complain
from ctx.progress import Bar
from ctx.servers import ask, call_indexer
from services.core.errors import CtxError, InvalidInput, SettingsInvalid
from services.core.settings import Settings, load

SHOWN_FAILURES = 10
WRONG_USE = (InvalidInput, SettingsInvalid)


def run(arguments: argparse.Namespace) -> int:
    """0 when the index is up to date, 1 when the run failed, 2 when it was asked for wrongly."""
    bar = Bar("files", visible=sys.stderr.isatty() and not arguments.json)
    try:
        settings = load()
        folder = Path(arguments.path or settings.workspace).expanduser().resolve()
        body = asyncio.run(_index(settings, folder, arguments, bar))
    except CtxError as error:
        bar.clear()
        complain(error, as_json=arguments.json)
        wrong = isinstance(error, WRONG_USE) or error.code == InvalidInput.code
        return 2 if wrong else 1
    bar.clear()
    print(json.dumps(body, indent=2) if arguments.json else _summary(body))
    return 0


async def _index(
    settings: Settings, folder: Path, arguments: argparse.Namespace, bar: Bar
) -> dict[str, Any]:
    if ask("indexer", settings.indexer_http_port, settings).running:
        return await _by_server(settings, folder, arguments, bar)
    return await _by_ourselves(settings, folder, arguments, bar)


async def _by_server(
    settings: Settings, folder: Path, arguments: argparse.Namespace, bar: Bar
) -> dict[str, Any]:
    from services.indexer.tools.admin import INDEX_SECONDS  # noqa: PLC0415 - slow to import

    if arguments.repo:
        raise InvalidInput("--repo", "a running indexer names repos itself; set CURRENT_REPO there")
    wanted = {"subdir": str(folder), "recreate": arguments.recreate}
    if arguments.collection:
        wanted["collection"] = arguments.collection
    return await call_indexer(
        settings, "qdrant_index", wanted, seconds=INDEX_SECONDS, on_progress=bar.show
    )


async def _by_ourselves(
    settings: Settings, folder: Path, arguments: argparse.Namespace, bar: Bar
) -> dict[str, Any]:
    from services.core.engine.engine import open_engine  # noqa: PLC0415 - slow to import
    from services.core.serving import progress  # noqa: PLC0415
    from services.core.serving.sessions import SessionDefaults  # noqa: PLC0415
    from services.indexer.tools.context import open_desk  # noqa: PLC0415

    top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
    here = {"workspace": top, "current_repo": arguments.repo or settings.current_repo}
    progress.current.set(bar.show)
    async with open_engine(settings, settings.code_model) as engine:
        desk = open_desk(settings.model_copy(update=here), engine, SessionDefaults())
        with contextlib.closing(desk):
            place = desk.workspaces.place("path", str(folder))
            collection = arguments.collection or settings.collection_name
            return dict(await desk.index(place, collection, arguments.recreate))


def _summary(body: Mapping[str, Any]) -> str:
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
    if stats["carried"]:
        repos = ", ".join(f"{count} of {repo}" for repo, count in sorted(stats["carried"].items()))
        lines.append(f"  carried  {repos}: chunks as they were indexed before")
    lines += [f"  FAILED   {f['path']}: {f['reason']}" for f in stats["failures"][:SHOWN_FAILURES]]
    if (more := len(stats["failures"]) - SHOWN_FAILURES) > 0:
        lines.append(f"           and {more} more; --json lists them all")
    return "\n".join(lines)
