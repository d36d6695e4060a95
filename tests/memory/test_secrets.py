"""Secrets in memories, thread entries and conversations: kept and warned of, or redacted."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ctx_core.engine.engine import Engine
from ctx_core.memories.memory import MemoryFilters
from ctx_core.memories.metadata import Metadata
from ctx_core.settings import Settings
from ctx_memory.service import MemoryServer, open_memory
from ctx_memory.threads.requests import ChangeArgument, EntryArgument

TOKEN = "gl" + "pat-" + "Zx81kPq04mWvT7sNd2Lc"
TEXT = f"push with {TOKEN}"
MARKED = "push with [redacted: GitLab token]"


@pytest.fixture(params=[False, True], ids=["kept", "redacted"])
def redacts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
async def server(data_dir: Path, engine: Engine, redacts: bool) -> AsyncIterator[MemoryServer]:
    settings = Settings(data_dir=data_dir, redact_stored=redacts)
    async with open_memory(settings, engine) as opened:
        yield opened


def entry(text: str) -> EntryArgument:
    return EntryArgument(thread_id="t", source="user", text=text)


async def test_memories(server: MemoryServer, redacts: bool) -> None:
    stored = await server.memories.store(TEXT, Metadata(topic="deploy"))
    assert "GitLab token" in stored["warnings"][0]
    [memory] = (await server.memories.browse(MemoryFilters(), 10, 0))[0]
    assert memory["information"] == (MARKED if redacts else TEXT)

    quiet = await server.memories.update(stored["id"], "push by hand", None, None)
    assert "warnings" not in quiet
    changed = await server.memories.update(stored["id"], None, None, {"code": TOKEN})
    assert "GitLab token" in changed["warnings"][0]
    [memory] = (await server.memories.browse(MemoryFilters(), 10, 0))[0]
    assert (TOKEN in str(memory)) is not redacts


async def test_thread_entries(server: MemoryServer, redacts: bool) -> None:
    entries = server.threads.entries
    stored = await entries.store(entry(TEXT))
    assert "GitLab token" in stored["warnings"][0]
    [read] = await entries.get([stored["context_id"]], include_images=False)
    assert read["text_content"] == (MARKED if redacts else TEXT)

    quiet = await entries.update(ChangeArgument(context_id=stored["context_id"], text="by hand"))
    assert "warnings" not in quiet
    changed = await entries.update(ChangeArgument(context_id=stored["context_id"], text=TEXT))
    assert "GitLab token" in changed["warnings"][0]


async def test_a_batch_names_the_entry(server: MemoryServer, redacts: bool) -> None:
    items = [{"thread_id": "b", "source": "user", "text": text} for text in ("plain", TEXT)]
    stored = await server.threads.batches.store(items, atomic=True)
    [warning] = stored["warnings"]
    assert warning.startswith("entries.1: ")
    assert "GitLab token" in warning
    ids = [item["context_id"] for item in stored["results"] if item["context_id"]]
    texts = [e["text_content"] for e in await server.threads.entries.get(ids, False)]
    assert texts == ["plain", MARKED if redacts else TEXT]


async def test_messages(server: MemoryServer, redacts: bool) -> None:
    messages = server.conversations.messages
    [warning] = await messages.add("a", "user", TEXT, None, [])
    assert "GitLab token" in warning
    assert await messages.add("a", "user", "push by hand", None, []) == ()
    first, _ = (await messages.retrieve("a"))["messages"]
    assert first["content"] == (MARKED if redacts else TEXT)


async def test_imported_summaries(
    data_dir: Path, engine: Engine, redacts: bool, caplog: pytest.LogCaptureFixture
) -> None:
    folder = data_dir / "contexts"
    folder.mkdir(parents=True)
    summary = {"contextId": "a", "summary": TEXT, "keyInsights": [TEXT], "codeBlocks": [TEXT]}
    (folder / "a.json").write_text(json.dumps(summary))
    settings = Settings(data_dir=data_dir, context_dir=folder, redact_stored=redacts)
    async with open_memory(settings, engine) as opened:
        found = (await opened.conversations.messages.retrieve("a"))["summary"]
    assert found is not None
    assert found["summary"] == (MARKED if redacts else TEXT)
    assert (TOKEN in str(found)) is not redacts
    assert "GitLab token" in caplog.text
