"""One way to call a tool: at the server that runs, or in this process where none does.

Permissions, arguments, results and errors are the same both ways. A call of a running server
imports neither its libraries nor those that check the settings.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctx.servers import connection_of, is_running
from ctx_core.environment.connection import Connection, ServiceName, read_connection
from ctx_core.serving.owner import HEADER, read_owner_token

if TYPE_CHECKING:
    from ctx_core.memories.metadata import Metadata
    from ctx_core.memories.results import StoreResult
    from ctx_core.serving.progress import Report
    from ctx_core.serving.service import Service
    from ctx_core.settings import Settings

# The server ends each of its calls itself; this is longer than the longest of them.
CALL_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class RemoteClient:
    """Calls tools of a running server over MCP."""

    url: str
    token: str | None
    owner_token: str | None = None

    async def call(
        self, tool: str, arguments: dict[str, Any], on_progress: "Report | None" = None
    ) -> dict[str, Any]:
        """Return the tool's result. Raises RemoteFailed, or StorageFailed where nobody answers."""
        from ctx_core.serving.mcp.client import call_tool

        return await call_tool(
            self.url,
            tool,
            arguments,
            self.token,
            seconds=CALL_SECONDS,
            on_progress=on_progress,
            headers={} if self.owner_token is None else {HEADER: self.owner_token},
        )


@dataclass(frozen=True)
class LocalClient:
    """Calls tools of a service that was opened in this process."""

    service: "Service"
    settings: "Settings"

    async def call(
        self, tool: str, arguments: dict[str, Any], on_progress: "Report | None" = None
    ) -> dict[str, Any]:
        """Return the tool's result. Raises the CtxError that a running server would answer."""
        from ctx_core.serving.mcp.calls import call_in_process

        return await call_in_process(self.service, self.settings, tool, arguments, on_progress)


Client = RemoteClient | LocalClient


@contextlib.asynccontextmanager
async def connect(
    service: ServiceName, here: "Callable[[Settings], Settings] | None" = None
) -> AsyncIterator[Client]:
    """Connect to the server that runs; else open its service here until the block ends.

    `here` returns the settings of that service. Raises SettingsInvalid.
    """
    if (remote := await running_server(service)) is not None:
        yield remote
        return
    settings = load_settings()
    settings = settings if here is None else here(settings)
    opened = _open_memory(settings) if service == "memory" else _open_indexer(settings)
    async with opened as local:
        yield LocalClient(local, settings)


async def running_server(service: ServiceName) -> RemoteClient | None:
    """Return the client of a server that runs, None without one. Raises SettingsInvalid."""
    connection = find_connection()
    if not await is_running(connection, service):
        return None
    owner = read_owner_token(connection.data_dir)
    return RemoteClient(connection.url(service, "/mcp"), connection.token, owner)


def find_connection() -> Connection:
    """Return where the servers answer. Raises SettingsInvalid."""
    return read_connection() or connection_of(load_settings())


def workspace_setting() -> Path:
    """Return the folder that commands mean where none is given. Raises SettingsInvalid."""
    return find_connection().workspace


def load_settings() -> "Settings":
    """Read and check every setting. Raises SettingsInvalid."""
    from ctx_core.settings import load

    return load()


def in_folder(settings: "Settings", folder: Path, repo: str | None = None) -> "Settings":
    """Return the settings of an indexer whose workspace is the git repository around a folder."""
    top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
    return settings.model_copy(
        update={"workspace": top, "current_repo": repo or settings.current_repo}
    )


@dataclass(frozen=True)
class _Memories:
    """Stores memories at the memory server; the MCP client is imported by the first one."""

    settings: "Settings"

    async def store(self, information: str, metadata: "Metadata | None") -> "StoreResult":
        from ctx_core.memories.client import RemoteMemories

        memories = RemoteMemories(self.settings.memory_endpoint, self.settings.own_token)
        return await memories.store(information, metadata)


@contextlib.asynccontextmanager
async def _open_indexer(settings: "Settings") -> "AsyncIterator[Service]":
    from ctx_core.engine.engine import open_engine
    from ctx_indexer.service import open_indexer

    configure_logging(settings)
    async with (
        open_engine(settings, settings.code_model) as engine,
        open_indexer(settings, engine, _Memories(settings)) as indexer,
    ):
        yield indexer.service


@contextlib.asynccontextmanager
async def _open_memory(settings: "Settings") -> "AsyncIterator[Service]":
    from ctx_core.engine.engine import open_engine
    from ctx_memory.service import open_memory

    configure_logging(settings)
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        yield memory.service


def configure_logging(settings: "Settings") -> None:
    """Log warnings and errors to standard error; everything with CTX_LOG_LEVEL=debug."""
    import logging

    from ctx_core.serving.logs import configure_logging
    from ctx_core.settings import ignored_settings

    configure_logging("debug" if settings.log_level == "debug" else "warning")
    for sentence in ignored_settings():
        logging.getLogger(__name__).warning("%s", sentence)
