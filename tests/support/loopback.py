"""An HTTP application of a test, served on loopback."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route


@contextlib.asynccontextmanager
async def serving(routes: Sequence[Route]) -> AsyncIterator[str]:
    """Serve routes until the block ends; yields the address."""
    config = uvicorn.Config(
        Starlette(routes=routes), port=0, log_level="error", lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = server.force_exit = True
    await running
    listening.close()
