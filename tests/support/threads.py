"""Threads over real parts: each database, the embedded Qdrant, the shipped model."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_memory.records.entry import Draft, EntryKind
from ctx_memory.search.filters import EntryFilters
from ctx_memory.service import MemoryServer, open_memory
from ctx_memory.threads.search_request import SearchRequest
from ctx_memory.threads.threads import Threads

ATTEMPTS = 10  # each waits as long as a caller would


@contextlib.asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[tuple[MemoryServer, Engine]]:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        yield memory, engine


async def add(threads: Threads, drafts: Sequence[Draft]) -> list[int]:
    """The ids of new entries whose points are written, however busy the machine is."""
    stored = await threads.entries.records.add(drafts)
    warnings: object = None
    for _ in range(ATTEMPTS):
        if not (warnings := await threads.entries.finish_write()):
            return [id_ for id_, _, _ in stored]
    raise AssertionError(warnings)


def draft(text: str, **more: Any) -> Draft:
    """A thread entry, not yet stored."""
    return Draft(EntryKind.THREAD, "threads", text, **{"thread": "t", "source": "user", **more})


def search_request(limit: int = 5, offset: int = 0, **filters: Any) -> SearchRequest:
    return SearchRequest(EntryFilters(**filters), limit, offset)


@pytest.fixture
def settings(records_url: str, tmp_path: Path) -> Settings:
    """Without summaries: tests of summaries turn them on."""
    return Settings(
        data_dir=tmp_path / "data",
        database_url=records_url,
        enable_summary_generation=False,
    )


@pytest.fixture
async def opened(settings: Settings) -> AsyncIterator[tuple[MemoryServer, Engine]]:
    async with serving(settings) as both:
        yield both


@pytest.fixture
def threads(opened: tuple[MemoryServer, Engine]) -> Threads:
    return opened[0].threads


@pytest.fixture
def engine(opened: tuple[MemoryServer, Engine]) -> Engine:
    return opened[1]
