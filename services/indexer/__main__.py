"""`python -m services.indexer`: the indexer server alone; memories go to the memory server."""

from services.core.engine.engine import open_engine
from services.core.memories.client import RemoteMemories
from services.core.serving.http.server import serve
from services.core.serving.owner import LOCAL_HEADER, ensure_owner_token
from services.core.serving.process import main
from services.core.settings import Settings
from services.indexer.service import open_indexer


async def run(settings: Settings, transports: frozenset[str]) -> None:
    owner = ensure_owner_token(settings.data_dir) if settings.memory_url is None else None
    headers = {LOCAL_HEADER: owner} if owner else {}
    memories = RemoteMemories(settings.memory_endpoint, settings.own_token, headers)
    async with (
        open_engine(settings, settings.code_model) as engine,
        open_indexer(settings, engine, memories, follow=True) as indexer,
    ):
        indexer.begin(settings.workspace.expanduser().resolve())
        await serve([indexer.service], settings, transports)


if __name__ == "__main__":
    main("indexer", run)
