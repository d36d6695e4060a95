"""`ctx up`: both servers in one process, over one engine."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from services.core.engine.engine import open_shared_parts
from services.core.serving.http.server import serve, urls
from services.core.serving.process import run_until_stopped
from services.core.serving.service import Service
from services.core.settings import Settings
from services.indexer.service import open_indexer
from services.memory.service import open_memory


def run(arguments: argparse.Namespace) -> int:
    if not arguments.json:
        print("ctx is starting …", file=sys.stderr)
    return run_until_stopped(lambda settings: _up(settings, arguments.json))


async def _up(settings: Settings, as_json: bool) -> None:
    async with (
        open_shared_parts(settings) as parts,
        open_memory(settings, parts.memory) as memory,
        open_indexer(settings, parts.code, memory.memories) as indexer,
    ):
        services = [memory.service, indexer.service]

        def announce() -> None:
            engine = parts.code.vectors.engine
            text = (
                _as_json(services, settings) if as_json else _greeting(services, settings, engine)
            )
            print(text, flush=True)

        await serve(services, settings, on_ready=announce)
    if not as_json:
        print("ctx has stopped.", file=sys.stderr)


def _as_json(services: Sequence[Service], settings: Settings) -> str:
    return json.dumps({"ready": True} | {s.name: urls(s, settings.host) for s in services})


def _greeting(services: Sequence[Service], settings: Settings, engine: str) -> str:
    found = {service.name: urls(service, settings.host) for service in services}
    lines = ["", "ctx is ready.", ""]
    for name, at in found.items():
        lines.append(f"  {name:<8} {at['http']}   (older clients: {at['sse']})")
    lines += [
        f"  health   {', '.join(at['health'] for at in found.values())}",
        f"  data     {_short(settings.data_dir)}, vectors {engine}",
        f"  code     {_short(settings.workspace.resolve())} (CTX_WORKSPACE)",
        "",
        "Claude Code:",
        *(f"  claude mcp add --transport http ctx-{n} {at['http']}" for n, at in found.items()),
        "",
        "Cursor and others:",
        f"  {_client_config(found)}",
        "",
        "More clients: docs/clients.md. Stop with Ctrl-C.",
    ]
    return "\n".join(lines)


def _client_config(found: dict[str, dict[str, str]]) -> str:
    return json.dumps({"mcpServers": {f"ctx-{n}": {"url": at["http"]} for n, at in found.items()}})


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
