"""`ctx search`: asks a running indexer, or indexes this folder and searches by itself."""

import argparse
import asyncio
import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctx.output import complain
from ctx.servers import ask, call_indexer
from services.core.errors import CtxError, InvalidInput, SettingsInvalid
from services.core.settings import Settings, load

SHOWN_LINES = 12  # of a snippet; --json has it whole
FILTERS = ("limit", "language", "under", "kind", "symbol", "path_glob", "repo")
WRONG_USE = (InvalidInput.code, SettingsInvalid.code)


def run(arguments: argparse.Namespace) -> int:
    """0 when something was found, 1 when not or when it failed, 2 when it was asked wrongly."""
    try:
        body = asyncio.run(_search(load(), arguments))
    except CtxError as error:
        complain(error, as_json=arguments.json)
        return 2 if error.code in WRONG_USE else 1
    print(json.dumps(body, indent=2) if arguments.json else _shown(body))
    return 0 if body["results"] else 1


async def _search(settings: Settings, arguments: argparse.Namespace) -> dict[str, Any]:
    wanted = {name: getattr(arguments, name) for name in FILTERS if getattr(arguments, name)}
    wanted["query"] = " ".join(arguments.query)
    if ask("indexer", settings.indexer_http_port, settings).running:
        return await call_indexer(settings, "repo_search", wanted)
    return await _by_ourselves(settings, wanted)


async def _by_ourselves(settings: Settings, wanted: dict[str, Any]) -> dict[str, Any]:
    """Brings the index of this folder up to date first: the first time takes a while."""
    from services.core.engine.engine import open_engine  # noqa: PLC0415 - slow to import
    from services.core.serving.sessions import SessionDefaults  # noqa: PLC0415
    from services.indexer.service import default_repo, open_searcher  # noqa: PLC0415
    from services.indexer.tools.context import open_desk  # noqa: PLC0415
    from services.indexer.tools.search import search_tools  # noqa: PLC0415

    async with open_engine(settings, settings.code_model) as engine:
        sessions = SessionDefaults()
        desk = open_desk(settings, engine, sessions)
        with contextlib.closing(desk):
            place = desk.workspaces.place("workspace", str(settings.workspace.resolve()))
            indexed = await desk.index(place, settings.collection_name, recreate=False)
        searcher = await open_searcher(settings, engine)
        repo = default_repo(settings) or indexed["repo"]
        tool, _ = search_tools(searcher, sessions, settings.collection_name, repo)
        return dict(await tool.run(**wanted))


def _shown(body: Mapping[str, Any]) -> str:
    if not body["results"]:
        return "Nothing found. Is this folder indexed? See: ctx index"
    return "\n\n".join(_hit(hit) for hit in body["results"])


def _hit(hit: Mapping[str, Any]) -> str:
    symbol = hit["metadata"]["symbol_path"] or hit["metadata"]["kind"]
    head = f"{Path(hit['path'])}:{hit['start_line']}-{hit['end_line']}  {symbol}  {hit['score']}"
    lines = hit.get("snippet", "").splitlines()
    more = [f"    … {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    return "\n".join([head, *(f"    {line}" for line in lines[:SHOWN_LINES]), *more])
