"""A memory store over real parts: Qdrant Edge or a real server, SQLite, the shipped model."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from services.core.parts import Parts, open_parts
from services.core.settings import Settings
from services.memory.entries import Memories
from services.memory.service import open_memory


@pytest.fixture(params=["edge", "server"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    url = request.getfixturevalue("qdrant_url") if request.param == "server" else None
    return Settings(
        data_dir=tmp_path / "data",
        qdrant_url=url,
        memory_collection_name=f"memories-{uuid4().hex[:8]}",
    )


@pytest.fixture
async def parts(settings: Settings) -> AsyncIterator[Parts]:
    async with open_parts(settings) as opened:
        yield opened


@pytest.fixture
async def memories(settings: Settings, parts: Parts) -> AsyncIterator[Memories]:
    async with open_memory(settings, parts) as memory:
        yield memory.memories
