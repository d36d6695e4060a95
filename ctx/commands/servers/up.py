"""`ctx up`: both servers in one process, over one engine."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.exit_code import Exit
from ctx.output import show
from ctx.servers import SERVICES, connection_of
from ctx_core.blocking import DISK
from ctx_core.environment.ports import CONVERSATIONS
from ctx_core.serving.garbage import pause_collection

if TYPE_CHECKING:
    from ctx_core.settings import Settings

Urls = Mapping[str, Mapping[str, str]]
PORT_HELP = f"Of the REST API of conversations [default: {CONVERSATIONS[1]}]."


@define_command(
    "up",
    COMMANDS["up"]
    + " They run until Ctrl-C, or in the background until `ctx down`. The folder that it is called "
    "in, or CTX_WORKSPACE, is indexed and followed, as every workspace that was indexed before; "
    "CTX_WATCH=0 switches that off.",
    examples=[
        "ctx up",
        "ctx up --detach",
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
@click.option("--port", metavar="PORT", help=PORT_HELP)
@click.option("--detach", "-d", is_flag=True, help="Run in the background; see `ctx logs`.")
@click.option("--for-stdio", is_flag=True, hidden=True, help="End with the last `ctx stdio`.")
def command(
    as_json: bool, config: str | None, port: str | None, detach: bool, for_stdio: bool
) -> int:
    """Serve until a signal stops it, or let a process in the background do so."""
    if detach:
        return _detach(config, port, as_json=as_json)
    if not as_json:
        print("ctx is starting …", file=sys.stderr)
    pause_collection()
    from ctx_core.serving.process import serve_until_stopped

    serve_until_stopped(lambda settings: _up(settings, as_json, for_stdio), config, port)
    return Exit.DONE


def _detach(config: str | None, port: str | None, *, as_json: bool) -> int:
    """Start the servers in the background, and wait until both answer."""
    from ctx.background import failed_start, log_path, run_owner, start, wait_until_running
    from ctx.install.servers import endpoint_of_both
    from ctx_core.settings import ignored_settings, load

    settings = load(config, port)
    for sentence in ignored_settings():
        print(sentence, file=sys.stderr)
    connection = connection_of(settings)
    owner, ready = run_owner(connection), True
    if owner is None:
        given = {"--config": config, "--port": port}
        options = [word for name, value in given.items() if value for word in (name, value)]
        process = start(["up", "--json", *options], connection.data_dir)
        ready = asyncio.run(wait_until_running(connection, process))
        if process.poll() is not None:
            raise failed_start(process, connection.data_dir)
    body: dict[str, Any] = {
        "ok": ready,
        "started": owner is None,
        "pid": process.pid if owner is None else owner.pid,
        "log": str(log_path(connection.data_dir)),
        "both": endpoint_of_both(settings).http,
        **{service: connection.url(service, "/mcp") for service in SERVICES},
    }
    show(body, _detached_text, as_json=as_json)
    return Exit.DONE


def _detached_text(body: Mapping[str, Any]) -> str:
    state = "run" if body["started"] else "run already"
    if not body["ok"]:
        state = "were started, but do not answer yet"
    return "\n".join(
        [
            f"The servers {state}: process {body['pid']}.",
            *(f"  {name:<8} {body[name]}" for name in ("both", *SERVICES)),
            f"  log      {body['log']}",
            "",
            "Connect clients with `ctx install`; look with `ctx status` and `ctx logs`; stop with "
            "`ctx down`.",
        ]
    )


async def _up(settings: "Settings", as_json: bool, for_stdio: bool) -> None:
    from ctx.background import lock_run
    from ctx.stdio.clients import stopped_with_clients

    run_lock = await DISK.run(lock_run, connection_of(settings))
    ending = stopped_with_clients(settings.data_dir) if for_stdio else contextlib.nullcontext()
    try:
        async with ending:
            await _serve(settings, as_json)
    finally:
        run_lock.release()
    if not as_json:
        print("ctx has stopped.", file=sys.stderr)


async def _serve(settings: "Settings", as_json: bool) -> None:
    from ctx_core.engine.engine import open_engines
    from ctx_core.serving.http.server import both_url, serve, urls
    from ctx_indexer.service import open_indexer
    from ctx_memory.service import open_memory

    async with (
        open_engines(settings) as engines,
        open_memory(settings, engines.memory) as memory,
        open_indexer(
            settings, engines.code, memory.memories, engines.memory.embedder, follow=True
        ) as indexer,
    ):
        indexer.begin(settings.workspace.expanduser().resolve())
        services = [memory.service, indexer.service]

        def announce() -> None:
            found = {service.name: urls(service, settings.host) for service in services}
            both = both_url(settings)
            ready = json.dumps({"ready": True, "both": {"http": both}} | found)
            engine = engines.code.vectors.engine
            print(ready if as_json else _greeting(both, found, settings, engine), flush=True)

        await serve(services, settings, on_ready=announce, together=True)


def _greeting(both: str, found: Urls, settings: "Settings", engine: str) -> str:
    lines = ["", "ctx is ready.", "", f"  both     {both}"]
    for name, at in found.items():
        lines.append(f"  {name:<8} {at['http']}   (older clients: {at['sse']})")
    lines += [f"  rest     {at['rest']}" for at in found.values() if "rest" in at]
    lines += [
        f"  health   {', '.join(at['health'] for at in found.values())}",
        f"  data     {_short(settings.data_dir)}, vectors {engine}",
        f"  code     {_short(settings.workspace.resolve())} (CTX_WORKSPACE)",
        "",
        "Connect your clients with `ctx install`, or:",
        f"  claude mcp add --transport http ctx {both}",
        f"  {json.dumps({'mcpServers': {'ctx': {'url': both}}})}",
        "",
        "More clients: docs/clients.md. Stop with Ctrl-C.",
    ]
    return "\n".join(lines)


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
