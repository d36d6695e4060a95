"""Run a server process: arguments, settings, logging, the event loop, exit codes."""

import argparse
import asyncio
import contextlib
import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from ctx_core.blocking import wait_until_idle
from ctx_core.environment.ports import CONVERSATIONS
from ctx_core.errors import CtxError
from ctx_core.serving.http.server import NETWORK, STDIO, TRANSPORTS
from ctx_core.serving.logs import configure_logging
from ctx_core.serving.tracing import configure_tracing
from ctx_core.settings import Settings, ignored_settings, load

log = logging.getLogger(__name__)

EXIT_ERROR = 2
LAST_CALLS_SECONDS = 1.0  # for threads that still write or compute at the end
CONFIG_HELP = (
    "options of conversations as a JSON object (docs/conversations.md); the environment goes first"
)
PORT_HELP = f"port of the REST API of conversations (default: {CONVERSATIONS[1]}); PORT goes first"

Run = Callable[[Settings, frozenset[str]], Coroutine[Any, Any, None]]


def main(name: str, run: Run) -> None:
    """Run one server until it is stopped."""
    given = _arguments(name)
    transports = frozenset(given.transports.split(","))
    sys.exit(
        run_until_stopped(lambda settings: run(settings, transports), given.config, given.port)
    )


def run_until_stopped(
    run: Callable[[Settings], Coroutine[Any, Any, None]],
    config: str | None = None,
    port: str | None = None,
) -> int:
    """Run until a signal; return the exit code: 0, or 2 after an error, which is printed."""
    try:
        serve_until_stopped(run, config, port)
    except CtxError as error:
        print(f"ctx: {error}", file=sys.stderr)  # noqa: T201 - logging may not be set up yet
        return EXIT_ERROR
    return 0


def serve_until_stopped(
    run: Callable[[Settings], Coroutine[Any, Any, None]],
    config: str | None = None,
    port: str | None = None,
) -> None:
    """Run until a signal. Raises CtxError where it cannot start.

    `config` is a JSON object of options, `port` one of them; the environment goes before both.
    """
    settings = load(config, port)
    configure_logging(settings.log_level, settings.log_format)
    configure_tracing(settings.otlp_endpoint)
    for sentence in ignored_settings():
        log.warning("%s", sentence)
    with contextlib.suppress(KeyboardInterrupt):
        run_loop(run(settings))


def run_loop(work: Awaitable[None]) -> None:
    """Run a coroutine on uvloop, or on asyncio's loop where that does not exist."""

    async def wait() -> None:
        await work

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(wait())
    wait_until_idle(LAST_CALLS_SECONDS)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    return uvloop.new_event_loop


def _arguments(name: str) -> argparse.Namespace:
    """Parse the command line: `transports`, `config` and `port`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m ctx_{name}",
        description=f"Run the {name} server.",
        epilog=f"Example, for a client that starts its servers: "
        f"python -m ctx_{name} --transports {STDIO}",
    )
    parser.add_argument(
        "--transports",
        default=",".join(sorted(NETWORK)),
        help=f"comma-separated, from {', '.join(TRANSPORTS)} (default: %(default)s)",
    )
    parser.add_argument("--config", metavar="JSON", help=CONFIG_HELP)
    parser.add_argument("--port", help=PORT_HELP)
    given = parser.parse_args()
    if unknown := set(given.transports.split(",")) - set(TRANSPORTS):
        parser.error(f"unknown transport {', '.join(sorted(unknown))}")
    return given
