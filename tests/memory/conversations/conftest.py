"""Conversations over real parts: each database, the embedded Qdrant, the shipped model."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ctx_core.settings import Settings
from ctx_memory.conversations.conversations import Conversations
from tests.support.threads import serving


@pytest.fixture
def settings(records_url: str, tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path / "data",
        database_url=records_url,
        auto_summarize=False,
        similarity_threshold=0.5,
    )


@pytest.fixture
async def conversations(settings: Settings) -> AsyncIterator[Conversations]:
    async with serving(settings) as (memory, _):
        yield memory.conversations
