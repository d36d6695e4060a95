"""Collections are rebuilt with another model while they are searched and written."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import ModelMismatch
from ctx_core.memories.memory import MemoryFilters
from ctx_core.settings import Settings
from ctx_memory.projection.heal import RebuildReport
from ctx_memory.records.entry import Draft, EntryKind
from ctx_memory.search.filters import EntryFilters
from ctx_memory.service import MemoryServer, open_memory, open_records
from ctx_memory.threads.search_request import SearchRequest
from tests.support import models
from tests.support.rebuild import Rebuild

ENTRIES = 250  # of each kind: more than two batches


@dataclass
class Running:
    """A memory server over one of the models."""

    settings: Settings
    engine: Engine
    server: MemoryServer

    async def find(self, query: str) -> tuple[set[str], list[str]]:
        found = await self.server.memories.find(query, MemoryFilters(), 5)
        return {hit["information"] for hit in found.hits}, list(found.degraded)

    async def by_meaning(self, query: str) -> list[Any]:
        request = SearchRequest(limit=5, filters=EntryFilters())
        return list((await self.server.threads.searches.by_meaning(query, request))["results"])

    async def hybrid(self, query: str) -> Any:
        request = SearchRequest(limit=5, filters=EntryFilters())
        return await self.server.threads.hybrid.search(query, None, None, request)

    async def rebuilding(self) -> bool:
        return await self.engine.vectors.rebuilding(self.settings.threads_collection_name)

    async def begun(self) -> Rebuild[RebuildReport]:
        """Begin a rebuild of both collections; that of threads begins last."""
        last = self.settings.threads_collection_name
        return await Rebuild.begun(self.engine.vectors, last, self.server.storage.healer.rebuild())


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as server,
    ):
        yield Running(settings, engine, server)


@pytest.fixture
async def second(settings: Settings, tmp_path: Path) -> AsyncIterator[Settings]:
    yield settings.model_copy(update={"memory_embedding_model": models.second_model(tmp_path)})
    async with open_engine(settings, settings.memory_model) as engine:
        for name in (settings.memory_collection_name, settings.threads_collection_name):
            await engine.vectors.delete_collection(name)


async def fill(settings: Settings) -> None:
    records = await open_records(settings)
    memories, threads = settings.memory_collection_name, settings.threads_collection_name
    drafts = [
        Draft(EntryKind.MEMORY, memories, f"note number {n} on databases") for n in range(ENTRIES)
    ]
    drafts += [
        Draft(EntryKind.THREAD, threads, f"step {n} of the migration", thread="t", source="user")
        for n in range(ENTRIES)
    ]
    await records.entries.add(drafts)
    await records.close()
    async with running(settings):  # a start writes their points
        pass


async def test_searches_go_on_while_memories_go_to_another_model(
    settings: Settings, second: Settings
) -> None:
    await fill(settings)
    async with running(second) as after:
        with pytest.raises(ModelMismatch, match="rebuild it with: ctx memory rebuild"):
            await after.find("note number 7")
        advice = await after.server.service.advice()
        assert len(advice) == 3
        assert all("ctx memory rebuild" in text for text in advice)
        waits = await after.server.memories.store("note stored before the rebuild", None)
        assert "ctx memory rebuild" in waits["degraded"][0]

        rebuild = await after.begun()

        async def ask() -> tuple[set[str], list[str], list[Any]]:
            found, degraded = await after.find("note number 7 on databases")
            return found, degraded, await after.by_meaning("step 7 of the migration")

        answers = await rebuild.watched(ask)
        report = await rebuild.end()
        assert report.model == models.NAME
        assert report.entry_counts == {
            EntryKind.MEMORY: ENTRIES + 1,
            EntryKind.THREAD: ENTRIES,
            EntryKind.MESSAGE: 0,
        }
        for found, degraded, near in answers:
            assert "note number 7 on databases" in found
            assert not degraded
            assert len(near) == 5
        found, _ = await after.find("note stored before the rebuild")
        assert "note stored before the rebuild" in found
        assert await after.server.service.advice() == []
        for name in (second.memory_collection_name, second.threads_collection_name):
            info = await after.engine.vectors.collection_info(name)
            assert info.spec.model is not None
            assert info.spec.model.name == models.NAME


async def test_what_is_written_during_a_rebuild_is_kept(
    settings: Settings, second: Settings
) -> None:
    await fill(settings)
    async with running(second) as after:
        rebuild = await after.begun()
        stored = await after.server.memories.store("note stored during the rebuild", None)
        assert "is being rebuilt with another model" in stored["degraded"][0]
        page, _ = await after.server.memories.browse(MemoryFilters(), 3, 1)
        changed, gone, _ = page
        await after.server.memories.update(changed["id"], "note changed meanwhile", None, None)
        await after.server.memories.delete([gone["id"]])
        await rebuild.end()
        assert "note stored during the rebuild" in (await after.find("stored during"))[0]
        assert "note changed meanwhile" in (await after.find("changed meanwhile"))[0]
        count = await after.engine.vectors.count(settings.memory_collection_name)
        assert count == ENTRIES
        assert gone["information"] not in (await after.find(gone["information"]))[0]


async def test_a_rebuild_with_the_same_model_hides_nothing_that_is_stored(
    settings: Settings, second: Settings
) -> None:
    await fill(settings)
    async with running(settings) as server:
        rebuild = await server.begun()
        stored = await server.server.memories.store("note stored during the rebuild", None)
        assert "degraded" not in stored
        assert "note stored during the rebuild" in (await server.find("stored during"))[0]
        assert not rebuild.task.done()
        await rebuild.end()
        assert "note stored during the rebuild" in (await server.find("stored during"))[0]
        name = settings.memory_collection_name
        assert await server.engine.vectors.count(name) == ENTRIES + 1


async def test_without_the_old_model_words_are_compared_and_the_result_says_so(
    settings: Settings, second: Settings
) -> None:
    await fill(second)
    async with running(settings) as after:
        rebuild = await after.begun()

        async def ask() -> tuple[set[str], list[str], Any]:
            return *await after.find("note number 7"), await after.hybrid("step 7 migration")

        *meanwhile, last = await rebuild.watched(ask)
        await rebuild.end()
        assert "only words are compared" in meanwhile[0][1][0]
        for found, _, threads in [*meanwhile, last]:
            assert "note number 7 on databases" in found
            assert threads["count"] == 5
        assert not last[1]
        assert "warnings" not in last[2]


async def test_a_rebuild_that_is_cut_short_leaves_the_old_collection(
    settings: Settings, second: Settings
) -> None:
    await fill(settings)
    async with running(second) as after:
        rebuild = await after.begun()
        rebuild.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rebuild.task
        assert not await after.rebuilding()
        with pytest.raises(ModelMismatch):
            await after.find("note")
    async with running(settings) as before:
        assert "note number 7 on databases" in (await before.find("note number 7"))[0]
    async with running(second) as after:
        await after.server.storage.healer.rebuild()
        assert "note number 7 on databases" in (await after.find("note number 7"))[0]
