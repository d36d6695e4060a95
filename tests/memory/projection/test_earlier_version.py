"""Collections that an earlier version wrote: a start rebuilds them from SQL, and logs it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.memories.collection import spec as memory_spec
from ctx_core.memories.memory import MemoryFilters
from ctx_core.memories.metadata import Metadata
from ctx_core.settings import Settings
from ctx_core.vectors.points import Point
from ctx_core.vectors.specs import CollectionSpec, IndexKind
from ctx_memory.records.entry import EntryKind
from ctx_memory.search.filters import EntryFilters
from ctx_memory.search.points import INDEXES, entry_spec
from ctx_memory.service import MemoryServer
from ctx_memory.threads.requests import EntryArgument
from ctx_memory.threads.search_request import SearchRequest
from tests.support.threads import serving

EARLIER_FIELDS = {"entry_uuid": "entry", "metadata_hashes": "facts", "point_count": "points"}
MEMORY = "Retry with jitter"
ENTRY = "The broker restarted. " + "Nothing else happened that week. " * 160  # several chunks


@pytest.fixture
async def stored(settings: Settings) -> AsyncIterator[Settings]:
    """A memory and a thread entry; on a shared Qdrant server their collections go afterwards."""
    async with serving(settings) as (memory, _):
        await memory.memories.store(MEMORY, Metadata(topic="queues"))
        await memory.threads.entries.store(
            EntryArgument(thread_id="t", source="user", text=ENTRY, metadata={"a": "b"})
        )
    yield settings
    async with open_engine(settings, settings.memory_model) as engine:
        for name in (settings.memory_collection_name, settings.threads_collection_name):
            await engine.vectors.delete_collection(name)


def earlier_payload(payload: Any) -> dict[str, Any]:
    return {EARLIER_FIELDS.get(field, field): value for field, value in payload.items()}


async def write_as_earlier(engine: Engine, name: str, spec: CollectionSpec) -> None:
    """Put the collection's points into one of an earlier spec, with the earlier payload fields."""
    store = engine.vectors
    rows, _ = await store.scroll(name, limit=1000, vectors=["dense", "bm25"])
    await store.delete_collection(name)
    await store.ensure_collection(name, spec)
    points = []
    for row in rows:
        vectors = {key: value for key, value in row.vectors.items() if key in spec.dense}
        if spec.sparse and "bm25" in row.vectors:
            vectors[spec.sparse[0]] = row.vectors["bm25"]
        points.append(Point(row.id, vectors, earlier_payload(row.payload)))
    await store.upsert(name, points)


def first_version(spec: CollectionSpec, indexes: dict[str, IndexKind]) -> CollectionSpec:
    """The words in a vector `lex`, and no purpose."""
    return CollectionSpec(spec.dense, ["lex"], indexes=indexes, model=spec.model)


def earlier_indexes() -> dict[str, IndexKind]:
    return {EARLIER_FIELDS.get(field, field): kind for field, kind in INDEXES.items()}


async def check_everything_is_found(memory: MemoryServer, engine: Engine, of: Settings) -> None:
    """Both entries, by the vectors and the payload fields of this version."""
    found = await memory.memories.find("jitter", MemoryFilters(topic="queues"), 5)
    assert [hit["information"] for hit in found.hits] == [MEMORY]
    request = SearchRequest(EntryFilters(metadata={"a": "b"}), 5, explain=True)
    body = await memory.threads.hybrid.search("broker", ["fts"], None, request)
    assert body["count"] == 1
    assert body["stats"]["fts_stats"]["backend"] == "qdrant"
    expected = {
        of.memory_collection_name: memory_spec(engine.embedder),
        of.threads_collection_name: entry_spec(EntryKind.THREAD, engine.embedder),
    }
    for name, spec in expected.items():
        assert (await engine.vectors.collection_info(name)).spec == spec
        rows, _ = await engine.vectors.scroll(name, limit=1000)
        assert rows
        for row in rows:
            assert not row.payload.keys() & set(EARLIER_FIELDS.values())


async def test_collections_of_the_first_version_are_rebuilt(
    stored: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    memories, threads = stored.memory_collection_name, stored.threads_collection_name
    async with open_engine(stored, stored.memory_model) as engine:
        spec = memory_spec(engine.embedder)
        await write_as_earlier(engine, memories, first_version(spec, dict(spec.indexes)))
        spec = entry_spec(EntryKind.THREAD, engine.embedder)
        await write_as_earlier(engine, threads, first_version(spec, earlier_indexes()))
    async with serving(stored) as (memory, engine):
        for name in (memories, threads):
            assert f"collection {name} has the shape of an earlier version" in caplog.text
        await check_everything_is_found(memory, engine, stored)
    caplog.clear()
    async with serving(stored):
        assert "earlier version" not in caplog.text


async def test_a_collection_without_words_is_rebuilt(
    stored: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    name = stored.threads_collection_name
    async with open_engine(stored, stored.memory_model) as engine:
        spec = entry_spec(EntryKind.THREAD, engine.embedder)
        await write_as_earlier(engine, name, replace(spec, sparse=()))
    async with serving(stored) as (memory, engine):
        assert f"collection {name} has the shape of an earlier version" in caplog.text
        await check_everything_is_found(memory, engine, stored)


async def test_a_collection_with_earlier_payload_fields_is_rebuilt(
    stored: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """Its vectors and purpose are those of this version: its indexes give it away."""
    name = stored.threads_collection_name
    async with open_engine(stored, stored.memory_model) as engine:
        spec = replace(entry_spec(EntryKind.THREAD, engine.embedder), indexes=earlier_indexes())
        await write_as_earlier(engine, name, spec)
    async with serving(stored) as (memory, engine):
        assert f"collection {name} has the shape of an earlier version" in caplog.text
        await check_everything_is_found(memory, engine, stored)
