"""The knowledge of the project that a command runs in.

A command opens files and records itself, under the locks of the servers, and may run beside them.
Only a search asks a running server: that one owns the vectors.
"""

import asyncio
import contextlib
import getpass
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctx.client import configure_logging, load_settings, running_server, workspace_setting
from ctx_core.errors import KnowledgeRefused, NotPermitted, RemoteFailed

if TYPE_CHECKING:
    from ctx_core.engine.engine import Engine
    from ctx_core.serving.service import Service
    from ctx_core.settings import Settings
    from ctx_memory.knowledge.knowledge import Knowledge, ProjectKnowledge

Body = dict[str, Any]


@dataclass(frozen=True)
class KnowledgeClient:
    """Calls the knowledge tools, and opens what only people may do, in this process."""

    settings: "Settings"
    knowledge: "Knowledge"
    service: "Service"

    async def call(self, tool: str, **arguments: Any) -> Body:
        """Return a tool's result. Raises the CtxError that a server would answer."""
        from ctx_core.serving.mcp.calls import call_in_process

        return await call_in_process(self.service, self.settings, tool, arguments)

    async def open(self, *, to_write: bool = False) -> "ProjectKnowledge":
        """Open the project itself. Raises NotPermitted for a write in read-only mode."""
        if to_write and self.settings.read_only:
            raise NotPermitted("CTX_READ_ONLY forbids to change knowledge.")
        return await self.knowledge.open()


def run_with_knowledge(work: Callable[[KnowledgeClient], Coroutine[Any, Any, Body]]) -> Body:
    """Open the knowledge of this folder's project, do the work, and return its result."""

    async def run() -> Body:
        async with _open(load_settings()) as client:
            return await work(client)

    return asyncio.run(run())


async def search(query: str) -> Body:
    """Search by the running server, else in this process; words alone where that one refuses."""
    server = await running_server("memory")
    if server is None:
        return await _search_here(load_settings(), query)
    folder = str(workspace_setting().expanduser().resolve())
    try:
        return await server.call("context_search", {"query": query, "project": folder})
    except RemoteFailed as error:
        if error.code != KnowledgeRefused.code:  # the server does not serve this folder
            raise
    async with _open(load_settings()) as client:
        return await client.call("context_search", query=query)


async def _search_here(settings: "Settings", query: str) -> Body:
    from ctx_core.engine.engine import open_engine

    async with (
        open_engine(settings, settings.memory_model) as engine,
        _open(settings, engine) as client,
    ):
        return await client.call("context_search", query=query)


@contextlib.asynccontextmanager
async def _open(
    settings: "Settings", engine: "Engine | None" = None
) -> AsyncIterator[KnowledgeClient]:
    from ctx_core.serving.service import Service
    from ctx_core.serving.sessions import SessionDefaults
    from ctx_memory.knowledge.knowledge import open_knowledge
    from ctx_memory.knowledge.tools import knowledge_tools
    from ctx_memory.records.store import Records

    configure_logging(settings)
    author = settings.mcp_caller or f"cli:{_user()}"
    own = settings.model_copy(update={"mcp_caller": author, "knowledge_push_on_stop": False})
    records = await Records.open(
        own.records_url,
        indexed_fields=own.metadata_indexed_fields,
        language=own.fts_language,
    )
    try:
        async with open_knowledge(own, engine, records.private, SessionDefaults()) as knowledge:
            tools = knowledge_tools(knowledge)
            service = Service("memory", "", tools, {}, own.memory_http_port, own.memory_sse_port)
            yield KnowledgeClient(own, knowledge, service)
    finally:
        await records.close()


def _user() -> str:
    """Return the user's name; a container may run as a number that has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
