"""Serve one client over standard input and output."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable

from fastmcp import FastMCP

from ctx_core.serving.stopping import CLOSE_SECONDS, end_within

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
COPY_BYTES = 65_536


async def serve_stdio(mcp: FastMCP, grace_seconds: float) -> None:
    """Serve until standard input closes or a stop signal comes."""
    end = _closable_stdin()

    def stop(*_: object) -> None:
        end_within(grace_seconds + CLOSE_SECONDS)
        end()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    await mcp.run_stdio_async(show_banner=False)


@contextlib.asynccontextmanager
async def stdio_in_background(mcp: FastMCP, stop: Callable[[], None]) -> AsyncIterator[None]:
    """Serve during the block, beside other transports; call `stop` when standard input closes."""
    end = _closable_stdin()
    serving = asyncio.create_task(mcp.run_stdio_async(show_banner=False))
    serving.add_done_callback(lambda _: stop())
    try:
        yield
    finally:
        end()
        await serving


def _closable_stdin() -> Callable[[], None]:
    """Replace standard input with a pipe that a thread fills; return a function that closes it.

    The MCP library reads standard input in a thread that nothing can interrupt: only the end of
    the input lets the server stop.
    """
    source = os.dup(sys.stdin.fileno())
    read_end, write_end = os.pipe()
    os.dup2(read_end, sys.stdin.fileno())
    os.close(read_end)
    target = os.fdopen(write_end, "wb", buffering=0)

    def copy() -> None:
        with contextlib.suppress(OSError, ValueError):  # the pipe is closed
            while data := os.read(source, COPY_BYTES):
                target.write(data)
        end()

    def end() -> None:
        with contextlib.suppress(OSError):
            target.close()

    threading.Thread(target=copy, name="stdin", daemon=True).start()
    return end
