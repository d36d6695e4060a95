"""A memory store over real parts: Qdrant Edge or a real server, SQLite, the shipped model."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_memory.memories.memories import Memories
from ctx_memory.records.store import Records
from ctx_memory.service import open_memory


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture(params=["sqlite", "postgresql"])
def records_url(request: pytest.FixtureRequest, data_dir: Path) -> str:
    """The URL of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{data_dir / 'records.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
async def records(records_url: str) -> AsyncIterator[Records]:
    """An open record store on an empty database."""
    opened = await Records.open(records_url)
    yield opened
    await opened.close()


@pytest.fixture(params=["edge", "server"])
def settings(request: pytest.FixtureRequest, data_dir: Path) -> Settings:
    url = request.getfixturevalue("qdrant_url") if request.param == "server" else None
    ours = uuid4().hex[:8]  # other tests use the same server
    return Settings(
        data_dir=data_dir,
        qdrant_url=url,
        memory_collection_name=f"memories-{ours}",
        threads_collection_name=f"threads-{ours}",
        knowledge_collection_name=f"knowledge-{ours}",
        conversations_collection_name=f"conversations-{ours}",
    )


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[Engine]:
    async with open_engine(settings, settings.memory_model) as opened:
        yield opened


@pytest.fixture
async def memories(settings: Settings, engine: Engine) -> AsyncIterator[Memories]:
    async with open_memory(settings, engine) as memory:
        yield memory.memories
