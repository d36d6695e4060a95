"""`python -m services.memory`: the memory server alone."""

from services.core.engine.engine import open_engine
from services.core.serving.http.server import serve
from services.core.serving.process import main
from services.core.settings import Settings
from services.memory.service import open_memory


async def run(settings: Settings, transports: frozenset[str]) -> None:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        await serve([memory.service], settings, transports)


if __name__ == "__main__":
    main("memory", run)
