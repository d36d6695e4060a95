"""Compares the points of entries with those that their projections make of the records now."""

import asyncio
from collections.abc import Mapping, Sequence

from sqlalchemy import select

from ctx_core.embedding.factory import open_local
from ctx_core.settings import Settings
from ctx_core.vectors.points import Point
from ctx_memory.conversations.conversations import conversation_target
from ctx_memory.projection.projection import Projection, with_revision
from ctx_memory.records.database import Database
from ctx_memory.records.entry import Entry, EntryKind
from ctx_memory.records.reading import read
from ctx_memory.records.tables import entries
from ctx_memory.search.points import memory_target
from ctx_memory.threads.threads import thread_target
from scripts.bench.faults.entries import SHOWN, scroll
from scripts.bench.faults.likeness import unlike
from scripts.bench.faults.world import MEMORY_POSTGRES, MODEL, World, collection


async def inspect_points(world: World, name: str) -> list[str]:
    """Return how a memory server's points differ from those of its records, in words."""
    settings = Settings(CTX_DATA_DIR=world.data(name), MEMORY_EMBEDDING_MODEL=MODEL)
    projections = {
        ("memory", EntryKind.MEMORY): memory_target("").projection,
        ("threads", EntryKind.THREAD): thread_target(settings).projection,
        ("conversations", EntryKind.MESSAGE): conversation_target(settings).projection,
    }
    records = world.postgres_url if name == MEMORY_POSTGRES else settings.records_url
    found = []
    for (purpose, kind), projection in projections.items():
        physical = collection(name, purpose)
        known = await _entries(records, kind, physical)
        expected = await asyncio.to_thread(_points, projection, known, settings)
        for words, ids in (await _differences(world, physical, expected)).items():
            found.append(f"{name}: {len(ids)} points of {purpose} {words}: {sorted(ids)[:SHOWN]}")
    return found


async def _entries(url: str, kind: EntryKind, physical: str) -> list[Entry]:
    database = Database(url)
    try:
        chosen = entries.c.kind == kind.value, entries.c.collection == physical
        async with database.reading("compare points") as connection:
            return await read(connection, select(entries).where(*chosen))
    finally:
        await database.close()


def _points(projection: Projection, known: Sequence[Entry], settings: Settings) -> dict[str, Point]:
    embedder = open_local(settings.memory_model, settings.data_dir)
    return {each.id: each for each in with_revision(projection, known, embedder)}


async def _differences(
    world: World, physical: str, expected: Mapping[str, Point]
) -> dict[str, list[str]]:
    """Return what differs, each with the ids of the points where it does."""
    found = {each["id"]: each for each in await scroll(world, physical, with_vector=True)}
    wrong: dict[str, list[str]] = {}
    for id_ in expected.keys() | found.keys():
        if words := _difference(expected.get(id_), found.get(id_)):
            wrong.setdefault(words, []).append(id_)
    return wrong


def _difference(expected: Point | None, found: Mapping[str, object] | None) -> str:
    if found is None:
        return "are missing"
    if expected is None:
        return "are of no entry"
    if found["payload"] != expected.payload:
        return "have another payload"
    vectors = found["vector"]
    assert isinstance(vectors, dict)
    return unlike(expected, vectors)
