"""Memories with the default model, a sentence transformer, from end to end."""

import time
from pathlib import Path
from statistics import median

import pytest

from ctx_core.settings import Settings
from ctx_core.settings.models import PROSE_TRANSFORMER
from tests.memory.memories.test_find import CORPUS
from tests.support.threads import serving

KNOWN = {
    "How should large files be processed?": "Process large",
    "What sizes a connection pool?": "Connection pools",
    "What happens when the length header is missing?": "parseHTTPResponse",
}
UNKNOWN = [
    "Who won the football match in Lisbon?",
    "Which colour has my bicycle?",
    "What did we eat?",
]
STORE_SECONDS = 0.5  # far above what a quiet machine takes, so that a busy one passes


async def test_memories_are_found_by_meaning_or_nothing_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORY_EMBEDDING_MODEL")  # of the tests
    settings = Settings(data_dir=tmp_path / "data")
    assert settings.memory_model == PROSE_TRANSFORMER
    async with serving(settings) as (memory, _):
        tools = {tool.name: tool.run for tool in memory.service.tools}
        taken = []
        for information, metadata in CORPUS.items():
            begun = time.perf_counter()
            assert "degraded" not in await tools["store"](information, metadata)
            taken.append(time.perf_counter() - begun)
        assert median(taken) < STORE_SECONDS
        for query, beginning in KNOWN.items():
            body = await tools["find"](query)
            assert body["results"][0]["information"].startswith(beginning)
            assert "weak" not in body, query
        for query in UNKNOWN:
            assert (await tools["find"](query))["weak"] is True, query
