"""The indexer in a process of its own; memories go to the memory server."""

from ctx_core.engine.engine import open_engine
from ctx_core.memories.client import RemoteMemories
from ctx_core.serving.http.server import serve
from ctx_core.serving.owner import LOCAL_HEADER, ensure_owner_token
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer


async def run(settings: Settings, transports: frozenset[str]) -> None:
    """Serve code until the process is stopped."""
    owner = ensure_owner_token(settings.data_dir) if settings.memory_url is None else None
    headers = {LOCAL_HEADER: owner} if owner else {}
    memories = RemoteMemories(settings.memory_endpoint, settings.own_token, headers)
    async with (
        open_engine(settings, settings.code_model) as engine,
        open_indexer(settings, engine, memories, follow=True) as indexer,
    ):
        indexer.begin(settings.workspace.expanduser().resolve())
        await serve([indexer.service], settings, transports)
