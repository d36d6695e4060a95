"""Unexpected errors while points are written: a stored entry stays stored, and retries go on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from ctx_core import background
from ctx_core.engine.engine import Engine
from ctx_core.errors import Unexpected
from ctx_core.memories.memory import MemoryFilters
from ctx_core.serving.service import Service
from ctx_core.settings import Settings
from ctx_memory.memories.memories import Memories
from ctx_memory.projection import outbox as outbox_module
from ctx_memory.service import open_memory

TEXT = "The staging cluster sleeps on Sundays."


class Failing:
    """An embedder that fails in a way that nobody foresaw, until it is mended."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self.is_mended = False

    def embed_documents(self, texts: Sequence[str]) -> Any:
        if not self.is_mended:
            raise KeyError("nobody foresaw this")
        return self._embedder.embed_documents(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)


@pytest.fixture
def settings(data_dir: Any) -> Settings:
    return Settings(data_dir=data_dir)


async def test_a_stored_entry_is_acknowledged_and_the_retries_survive(
    settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_module, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(background, "FIRST_PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(background, "SOUND_SECONDS", 0.5)
    failing = Failing(engine.embedder)
    async with open_memory(settings, Engine(engine.vectors, failing)) as memory:  # type: ignore[arg-type]
        stored = await memory.memories.store(TEXT, None)
        assert stored["ok"]
        assert "the log has the details" in stored["degraded"][0]
        await _until(lambda: _fails(memory.service))

        failing.is_mended = True
        await _until(lambda: _is_found(memory.memories))
        await asyncio.sleep(1)
        assert not await _fails(memory.service)
        listed, total = await memory.memories.browse(MemoryFilters(), 10, 0)
        assert total == 1
        assert listed[0]["information"] == TEXT


async def _fails(service: Service) -> bool:
    try:
        await service.checks["background"]()
    except Unexpected as error:
        return "retries of the outbox failed (KeyError)" in str(error)
    return False


async def _is_found(memories: Memories) -> bool:
    return bool((await memories.find("staging", MemoryFilters(), 5)).hits)


async def _until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await is_so():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.05)
