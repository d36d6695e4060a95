"""`ctx doctor --fix` and `ctx memory rebuild`: Qdrant is made equal to SQL, for every kind."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ctx.__main__ import main
from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_core.vectors.points import Point
from ctx_core.vectors.queries import Filter, HasId, Match
from ctx_memory.records.entry import Change, Draft, EntryKind
from ctx_memory.service import open_storage

ORPHAN = "0b8f7c9e-0000-4000-8000-00000000000a"
LONG = "A long text is cut into chunks, and each of them is a point. " * 80


@pytest.fixture
def settings(data_dir: Path, records_url: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("CTX_DATA_DIR", str(data_dir))
    monkeypatch.setenv("DATABASE_URL", records_url)
    monkeypatch.setenv("CTX_LOG_LEVEL", "error")
    return Settings(data_dir=data_dir, database_url=records_url)


async def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = await asyncio.to_thread(main, [*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


async def fill(settings: Settings, engine: Engine) -> list[str]:
    """Three memories and two thread entries, written to Qdrant."""
    drafts = [
        *(Draft(EntryKind.MEMORY, settings.memory_collection_name, f"note {n}") for n in range(3)),
        *(
            Draft(
                EntryKind.THREAD, settings.threads_collection_name, text, thread="t", source="user"
            )
            for text in ("short", LONG)
        ),
    ]
    async with open_storage(settings, engine) as storage:
        added = await storage.records.entries.add(drafts)
        await storage.healer.heal()
        change = Change(added[0].id, metadata={"topic": "later"})
        await storage.records.entries.change([change], EntryKind.MEMORY)
        await storage.outbox.drain()
    return [uuid for _, uuid, _ in added]


async def points(engine: Engine, collection: str) -> dict[str, Any]:
    rows, _ = await engine.vectors.scroll(collection, limit=1000)
    return {row.id: row.payload for row in rows}


async def contents(settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    async with open_engine(settings, settings.memory_model) as engine:
        return (
            await points(engine, settings.memory_collection_name),
            await points(engine, settings.threads_collection_name),
        )


async def spoil(settings: Settings, engine: Engine, uuids: list[str]) -> None:
    """An orphaned, an outdated and a missing memory; a missing chunk and an orphaned chunk."""
    memories, threads = settings.memory_collection_name, settings.threads_collection_name
    store = engine.vectors
    await store.delete(memories, Filter(must=[HasId([uuids[1]])]))
    old = (await points(engine, memories))[uuids[0]]
    vectors = {"dense": [1.0] * engine.embedder.dims}
    await store.upsert(
        memories,
        [
            Point(uuids[0], vectors, {**old, "information": "older", "revision": 1}),
            Point(ORPHAN, vectors, {**old, "information": "orphan"}),
        ],
    )
    whole = await points(engine, threads)
    chunks = [key for key, payload in whole.items() if payload["entry_uuid"] == uuids[4]]
    assert len(chunks) > 2
    await store.delete(threads, Filter(must=[HasId([chunks[1]])]))
    await store.upsert(
        threads, [Point(ORPHAN, vectors, {**whole[chunks[0]], "entry_uuid": ORPHAN})]
    )


async def test_missing_and_outdated_entries_are_written_and_orphaned_ones_removed(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_engine(settings, settings.memory_model) as engine:
        uuids = await fill(settings, engine)
        before = await points(engine, "memories"), await points(engine, "threads")
        await spoil(settings, engine, uuids)
    code, report = await command(capsys, "doctor", "--fix", "--yes")
    assert code == 0, report
    said = [f["detail"] for f in report["findings"] if f["check"] == "reconcile"]
    assert said[:3] == [
        "memories: 1 missing and 1 outdated entries written, 0 orphaned entries removed",
        "threads: 1 missing and 0 outdated entries written, 0 orphaned entries removed",
        "conversations: 0 missing and 0 outdated entries written, 0 orphaned entries removed",
    ]
    [of_memories, of_threads] = [Path(detail.split("a copy is ")[1]) for detail in said[3:]]
    assert json.loads(of_memories.read_text())["information"] == "orphan"
    assert json.loads(of_threads.read_text())["entry_uuid"] == ORPHAN
    assert await contents(settings) == before
    code, report = await command(capsys, "doctor", "--fix")
    said = [f["detail"] for f in report["findings"] if f["check"] == "reconcile"]
    assert all("0 missing and 0 outdated entries written, 0 orphaned" in each for each in said)


async def test_a_rebuild_writes_every_entry_again(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_engine(settings, settings.memory_model) as engine:
        uuids = await fill(settings, engine)
        before = await points(engine, "memories"), await points(engine, "threads")
        await spoil(settings, engine, uuids)
    assert await asyncio.to_thread(main, ["memory", "rebuild"]) != 0  # it would lose two orphans
    assert "1 entries that the records" in capsys.readouterr().err
    await command(capsys, "doctor", "--fix", "--yes")
    code, report = await command(capsys, "memory", "rebuild")
    assert code == 0
    assert report == {
        "ok": True,
        "model": settings.memory_model,
        "written": {"memory": 3, "thread": 2, "message": 0},
    }
    assert await contents(settings) == before


async def test_a_shorter_text_leaves_no_chunk_behind(settings: Settings) -> None:
    async with open_engine(settings, settings.memory_model) as engine:
        uuids = await fill(settings, engine)
        async with open_storage(settings, engine) as storage:
            [entry] = await storage.records.entries.get_by_uuid([uuids[4]], EntryKind.THREAD)
            await storage.records.entries.change(
                [Change(entry.id, text="short now")], EntryKind.THREAD
            )
            await storage.outbox.drain()
            of_it = Filter(must=[Match("entry_uuid", entry.uuid)])
            assert await engine.vectors.count("threads", of_it) == 1


async def test_a_running_server_keeps_its_vectors(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_engine(settings, settings.memory_model) as engine:
        await fill(settings, engine)
        code, report = await command(capsys, "doctor", "--fix")
    assert code == 1
    [finding] = [f for f in report["findings"] if f["check"] == "reconcile"]
    assert finding["state"] == "fail"
    assert "owns the vectors" in finding["detail"]
    assert "Stop it and run `ctx doctor --fix` again" in finding["fix"]


async def test_the_doctor_examines_records_without_changing_them(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    _, report = await command(capsys, "doctor")
    [finding] = [f for f in report["findings"] if f["check"] == "records"]
    assert "made ready at the next start" in finding["detail"]
    async with open_engine(settings, settings.memory_model) as engine:
        await fill(settings, engine)
        async with open_storage(settings, engine) as storage:
            await storage.records.entries.add(
                [Draft(EntryKind.MEMORY, "memories", "waits"), Draft(EntryKind.MEMORY, "m", "x")]
            )
            _, bad = await storage.records.outbox.lease(2)
            await storage.records.outbox.park(bad, "cannot be")
    code, report = await command(capsys, "doctor")
    [finding] = [f for f in report["findings"] if f["check"] == "records"]
    assert (code, finding["state"]) == (0, "warn")
    assert "7 entries, 1 wait for Qdrant; 1 cannot be written: cannot be" in finding["detail"]
