"""The memory server in a process of its own."""

from ctx_core.engine.engine import open_engine
from ctx_core.serving.http.server import serve
from ctx_core.settings import Settings
from ctx_memory.service import open_memory


async def run(settings: Settings, transports: frozenset[str]) -> None:
    """Serve memories until the process is stopped."""
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        await serve([memory.service], settings, transports)
