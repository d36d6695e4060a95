"""`python -m services.indexer`: the indexer server alone; memories go to the memory server."""

from services.core.engine.engine import open_engine
from services.core.memories.client import RemoteMemories
from services.core.serving.http.server import serve
from services.core.serving.process import main
from services.core.settings import Settings
from services.indexer.service import open_indexer


async def run(settings: Settings, transports: frozenset[str]) -> None:
    memories = RemoteMemories(settings.memory_endpoint, settings.own_token)
    async with (
        open_engine(settings, settings.code_model) as engine,
        open_indexer(settings, engine, memories, follow=True) as indexer,
    ):
        indexer.begin(settings.workspace.expanduser().resolve())
        await serve([indexer.service], settings, transports)


if __name__ == "__main__":
    main("indexer", run)
