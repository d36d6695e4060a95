"""Threads over real parts: each database, the embedded Qdrant, the shipped model."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.core.parts import Parts, open_parts
from services.core.settings import Settings
from services.memory.service import MemoryServer, open_memory
from services.memory.threads.service import Threads


@contextlib.asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[tuple[MemoryServer, Parts]]:
    async with open_parts(settings) as parts, open_memory(settings, parts) as memory:
        yield memory, parts


@pytest.fixture
def settings(records_url: str, tmp_path: Path) -> Settings:
    """No summaries: the tests that want them ask for them."""
    return Settings(
        data_dir=tmp_path / "data",
        database_url=records_url,
        chunk_size=400,
        chunk_overlap=40,
        enable_summary_generation=False,
    )


@pytest.fixture
async def opened(settings: Settings) -> AsyncIterator[tuple[MemoryServer, Parts]]:
    async with serving(settings) as both:
        yield both


@pytest.fixture
def threads(opened: tuple[MemoryServer, Parts]) -> Threads:
    return opened[0].threads


@pytest.fixture
def parts(opened: tuple[MemoryServer, Parts]) -> Parts:
    return opened[1]
