"""Serving one client over standard input and output."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable

from fastmcp import FastMCP

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
COPY_BYTES = 65_536


async def serve_stdio(mcp: FastMCP) -> None:
    """Until standard input closes, or a signal asks to stop."""
    end = _endable_stdin()
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: end())
    await mcp.run_stdio_async(show_banner=False)


@contextlib.asynccontextmanager
async def stdio_beside(mcp: FastMCP, stop: Callable[[], None]) -> AsyncIterator[None]:
    """The same beside the ports; `stop` is called when standard input closes."""
    end = _endable_stdin()
    serving = asyncio.create_task(mcp.run_stdio_async(show_banner=False))
    serving.add_done_callback(lambda _: stop())
    try:
        yield
    finally:
        end()
        await serving


def _endable_stdin() -> Callable[[], None]:
    """Put a pipe in the place of standard input, filled by a thread; the function that is returned
    ends it. The MCP library reads standard input in a thread that nothing can interrupt: only its
    end lets the server stop."""
    source = os.dup(sys.stdin.fileno())
    read_end, write_end = os.pipe()
    os.dup2(read_end, sys.stdin.fileno())
    os.close(read_end)
    target = os.fdopen(write_end, "wb", buffering=0)

    def copy() -> None:
        with contextlib.suppress(OSError, ValueError):  # closed by `end`, or nobody reads any more
            while piece := os.read(source, COPY_BYTES):
                target.write(piece)
        end()

    def end() -> None:
        with contextlib.suppress(OSError):
            target.close()

    threading.Thread(target=copy, name="stdin", daemon=True).start()
    return end
