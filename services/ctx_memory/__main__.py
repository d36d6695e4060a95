"""`python -m ctx_memory`: the memory server alone."""

from ctx_core.engine.engine import open_engine
from ctx_core.serving.http.server import serve
from ctx_core.serving.process import main
from ctx_core.settings import Settings
from ctx_memory.service import open_memory


async def run(settings: Settings, transports: frozenset[str]) -> None:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        await serve([memory.service], settings, transports)


if __name__ == "__main__":
    main("memory", run)
