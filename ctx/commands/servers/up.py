"""`ctx up`: both servers in one process, over one engine."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctx.cli import COMMANDS, define_command
from ctx.exit_code import Exit

if TYPE_CHECKING:
    from services.core.settings import Settings

Urls = Mapping[str, Mapping[str, str]]


@define_command(
    "up",
    COMMANDS["up"]
    + " They run until Ctrl-C. The folder that it is called in, or CTX_WORKSPACE, is indexed and "
    "followed, as every workspace that was indexed before; CTX_WATCH=0 switches that off.",
    examples=[
        "ctx up",
        "CTX_WORKSPACE=~/my-project ctx up",
        "ctx up --config '{\"messageLimitThreshold\": 20}'",
        "ctx up --port 8080",
        "ctx up --json",
    ],
)
@click.option(
    "--config",
    metavar="JSON",
    help="Options of conversations (docs/conversations.md); the environment goes first.",
)
@click.option("--port", metavar="PORT", help="Of the REST API of conversations [default: 6789].")
def command(as_json: bool, config: str | None, port: str | None) -> int:
    """Serve until a signal stops it."""
    from services.core.serving.process import serve_until_stopped

    if not as_json:
        print("ctx is starting …", file=sys.stderr)
    serve_until_stopped(lambda settings: _up(settings, as_json), config, port)
    return Exit.DONE


async def _up(settings: "Settings", as_json: bool) -> None:
    from services.core.engine.engine import open_engines
    from services.core.serving.http.server import serve, urls
    from services.indexer.service import open_indexer
    from services.memory.service import open_memory

    async with (
        open_engines(settings) as engines,
        open_memory(settings, engines.memory) as memory,
        open_indexer(settings, engines.code, memory.memories, follow=True) as indexer,
    ):
        indexer.begin(settings.workspace.expanduser().resolve())
        services = [memory.service, indexer.service]

        def announce() -> None:
            found = {service.name: urls(service, settings.host) for service in services}
            ready = json.dumps({"ready": True} | found)
            engine = engines.code.vectors.engine
            print(ready if as_json else _greeting(found, settings, engine), flush=True)

        await serve(services, settings, on_ready=announce)
    if not as_json:
        print("ctx has stopped.", file=sys.stderr)


def _greeting(found: Urls, settings: "Settings", engine: str) -> str:
    lines = ["", "ctx is ready.", ""]
    for name, at in found.items():
        lines.append(f"  {name:<8} {at['http']}   (older clients: {at['sse']})")
    lines += [f"  rest     {at['rest']}" for at in found.values() if "rest" in at]
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


def _client_config(found: Urls) -> str:
    return json.dumps({"mcpServers": {f"ctx-{n}": {"url": at["http"]} for n, at in found.items()}})


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
