"""Qdrant gets back from SQL what it lost or missed."""

import asyncio
import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from ctx.__main__ import main
from ctx_core.embedding.factory import open_embedder
from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import ModelMismatch
from ctx_core.memories.collection import spec
from ctx_core.memories.memory import MemoryFilters
from ctx_core.settings import Settings
from ctx_core.vectors.queries import Filter, HasId
from ctx_core.vectors.specs import EmbeddingModel
from ctx_indexer.schema.points import spec as code_spec
from ctx_memory.records.entry import Change, Criteria, Draft, EntryKind
from ctx_memory.records.store import Records
from ctx_memory.service import open_memory

COLLECTIONS = ("memory", "threads", "knowledge", "conversations")
CLOSED_PORT = "http://127.0.0.1:9"  # the discard port: nothing listens there


@pytest.fixture
def settings(data_dir: Path) -> Settings:
    return Settings(data_dir=data_dir)


async def store(settings: Settings, *texts: str) -> list[str]:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        return [(await memory.memories.store(text, None))["id"] for text in texts]


async def find_all(settings: Settings) -> set[str]:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        found = await memory.memories.find("note", MemoryFilters(), 100)
        return {hit["information"] for hit in found.hits}


async def test_a_lost_vector_folder_is_rebuilt_at_the_next_start(settings: Settings) -> None:
    await store(settings, "note one", "note two")
    shutil.rmtree(settings.vectors_dir)
    assert await find_all(settings) == {"note one", "note two"}


async def test_a_lost_point_comes_back(settings: Settings) -> None:
    lost, _ = await store(settings, "note one", "note two")
    async with open_engine(settings, settings.memory_model) as engine:
        name = settings.memory_collection_name
        await engine.vectors.delete(name, Filter(must=[HasId([lost])]))
        assert await engine.vectors.count(name) == 1
    assert await find_all(settings) == {"note one", "note two"}


async def test_a_delete_and_an_update_heal_after_a_crash(settings: Settings) -> None:
    gone, changed, _ = await store(settings, "note gone", "note old", "note kept")
    records = await Records.open(settings.records_url)
    ids = {
        entry.uuid: entry.id
        for entry in await records.entries.select(Criteria(EntryKind.MEMORY), 10)
    }
    await records.entries.remove(Criteria(EntryKind.MEMORY, ids=[ids[gone]]))
    await records.entries.change([Change(ids[changed], text="note new")], EntryKind.MEMORY)
    assert len(await records.outbox.lease(10)) == 2  # leased, and never written
    await records.close()
    assert await find_all(settings) == {"note new", "note kept"}


async def test_storing_goes_on_without_qdrant_and_heals_with_it(
    settings: Settings, qdrant_url: str
) -> None:
    ours = uuid4().hex[:8]  # other tests use the same server
    names = {f"{each}_collection_name": f"{each}-{ours}" for each in COLLECTIONS}
    down = settings.model_copy(update={"qdrant_url": CLOSED_PORT, **names})
    async with open_engine(down, down.memory_model) as engine, open_memory(down, engine) as memory:
        answer = await memory.memories.store("note while Qdrant is down", None)
        assert answer["ok"]
        assert "not searchable yet" in answer["degraded"][0]
        assert "QDRANT_URL" in answer["degraded"][0]
    up = down.model_copy(
        update={"qdrant_url": qdrant_url, "memory_collection_name": f"healed-{ours}"}
    )
    records = await Records.open(settings.records_url)
    assert await records.outbox.pending() == 1
    await records.close()
    async with open_engine(up, up.memory_model) as engine, open_memory(up, engine) as memory:
        assert await engine.vectors.count(down.memory_collection_name) == 1
        await engine.vectors.delete_collection(down.memory_collection_name)


async def test_another_model_is_refused_and_the_way_out_named(settings: Settings) -> None:
    await store(settings, "note one")

    class Other:
        name, dims = "other-model", 99

    async with open_engine(settings, settings.memory_model) as engine:
        with pytest.raises(ModelMismatch) as raised:
            await engine.vectors.ensure_collection(
                settings.memory_collection_name,
                spec(Other()),
            )
    message = str(raised.value)
    assert settings.memory_model in message
    assert "other-model" in message
    assert "ctx memory rebuild" in message


async def test_a_rebuild_takes_the_memories_to_another_model(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store(settings, "note one", "note two")
    async with open_engine(settings, settings.memory_model) as engine:
        await engine.vectors.delete_collection(settings.memory_collection_name)
        await engine.vectors.ensure_collection(
            settings.memory_collection_name,
            spec(EmbeddingModel("older-model", 8)),
        )
    with pytest.raises(ModelMismatch, match="ctx memory rebuild"):
        await find_all(settings)
    monkeypatch.setenv("CTX_DATA_DIR", str(settings.data_dir))
    assert await asyncio.to_thread(main, ["memory", "rebuild", "--json"]) == 0
    assert await find_all(settings) == {"note one", "note two"}


async def test_memories_are_never_written_into_code(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """The entry is kept and the result says why; a start and a rebuild leave the collection out."""
    async with open_engine(settings, settings.memory_model) as engine:
        code = code_spec(engine.embedder)
        await engine.vectors.ensure_collection("code", code)
        async with open_memory(settings, engine) as memory:
            memory.memories.sessions.set("code", "token-of-a-session")
            answer = await memory.memories.store("note", None, "token-of-a-session")
            assert "holds code, not memories" in answer["degraded"][0]
    await store(settings, "another note")
    assert "collection code holds code: no memories are written" in caplog.text
    async with open_engine(settings, settings.memory_model) as engine:
        async with open_memory(settings, engine) as memory:
            await memory.storage.healer.rebuild()
        info = await engine.vectors.collection_info("code")
        assert (info.spec, info.points_count) == (code, 0)


async def test_entries_and_outbox_are_written_together(settings: Settings) -> None:
    async with open_engine(settings, settings.memory_model) as engine:
        await _store_without_draining(settings, engine)
    assert await find_all(settings) == {"note whose points were never written"}


async def _store_without_draining(settings: Settings, engine: Engine) -> None:
    records = await Records.open(settings.records_url)
    name = settings.memory_collection_name
    await records.entries.add(
        [Draft(EntryKind.MEMORY, name, "note whose points were never written")]
    )
    assert await records.outbox.pending() == 1
    assert await records.counts.collections(EntryKind.MEMORY) == {name: 1}
    await records.close()
    embedder = open_embedder(settings.memory_model, settings.embedding_cache_path)
    await engine.vectors.ensure_collection(name, spec(embedder))
    embedder.close()
