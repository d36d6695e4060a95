"""Vectors and records of different ages: an older copy of either, or emptied records."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ctx.__main__ import main
from ctx_core.engine.engine import open_engine
from ctx_core.errors import StorageFailed
from ctx_core.memories.memory import MemoryFilters
from ctx_core.settings import Settings
from ctx_memory.service import MemoryServer, open_memory
from tests.support.vectors.damage import garble_payloads


@pytest.fixture
def settings(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("CTX_DATA_DIR", str(data_dir))
    monkeypatch.setenv("CTX_LOG_LEVEL", "error")
    return Settings(data_dir=data_dir)


@asynccontextmanager
async def started(settings: Settings) -> AsyncIterator[MemoryServer]:
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        yield memory


async def found(memory: MemoryServer) -> set[str]:
    answer = await memory.memories.find("note", MemoryFilters(), 100)
    return {hit["information"] for hit in answer.hits}


async def doctor(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    await asyncio.to_thread(main, ["doctor", "--json", *options])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def entries_finding(report: dict[str, Any]) -> dict[str, Any]:
    [finding] = [each for each in report["findings"] if each["check"] == "entries"]
    return dict(finding)


def empty_records(settings: Settings) -> None:
    for file in settings.data_dir.glob("records.sqlite*"):
        file.unlink()


async def test_an_older_vectors_folder_of_equal_counts_is_noticed_and_corrected(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async with started(settings) as memory:
        ids = [(await memory.memories.store(f"note {n}", None))["id"] for n in range(6)]
    older = settings.data_dir / "older"
    shutil.copytree(settings.vectors_dir, older)
    async with started(settings) as memory:
        await memory.memories.delete(ids[:2])
        await memory.memories.update(ids[2], "note two, changed", None, None)
        for n in (6, 7):  # as many as were deleted: the counts agree
            await memory.memories.store(f"note {n}", None)
        now = await found(memory)
    assert len(now) == 6
    shutil.rmtree(settings.vectors_dir)
    shutil.copytree(older, settings.vectors_dir)

    finding = entries_finding(await doctor(capsys))
    assert finding["state"] == "warn"
    assert "2 entries missing, 1 outdated, 2 deleted ones left" in finding["detail"]
    async with started(settings) as memory:
        assert await found(memory) == now
        await memory.service.checks["entries"]()
    assert "entries" not in {each["check"] for each in (await doctor(capsys))["findings"]}


async def test_emptied_records_are_noticed_and_nothing_is_deleted_on_their_word(
    settings: Settings, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with started(settings) as memory:
        for n in range(5):
            await memory.memories.store(f"note {n}", None)
        known = await found(memory)
    empty_records(settings)

    report = await doctor(capsys)
    [records] = [each for each in report["findings"] if each["check"] == "records"]
    assert (report["ok"], records["state"]) == (False, "fail")
    assert "Qdrant holds 5 points" in records["detail"]

    async with started(settings) as memory:
        with pytest.raises(StorageFailed, match="holds 5 entries that the records, with 0"):
            await memory.service.checks["entries"]()
        assert "5 entries" in (await memory.service.advice())[-1]
        assert await found(memory) == known
        with pytest.raises(StorageFailed, match="ctx doctor --fix"):
            await memory.storage.healer.rebuild()
    assert "emptied or put back from an older copy" in caplog.text

    report = await doctor(capsys, "--fix")  # nobody says yes
    assert entries_finding(report)["state"] == "fail"
    async with started(settings) as memory:
        assert await found(memory) == known


@pytest.mark.slow
async def test_the_doctor_keeps_a_copy_of_what_it_is_told_to_delete(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async with started(settings) as memory:
        for n in range(5):
            await memory.memories.store(f"note {n}", None)
    empty_records(settings)
    async with started(settings) as memory:
        await memory.memories.store("note of the new records", None)

    report = await doctor(capsys, "--fix", "--yes")
    assert report["ok"]
    [copy] = settings.data_dir.glob("removed-memories-*.jsonl")
    saved = {json.loads(line)["information"] for line in copy.read_text().splitlines()}
    assert saved == {f"note {n}" for n in range(5)}
    assert any(str(copy) in each["detail"] for each in report["findings"])
    async with started(settings) as memory:
        assert await found(memory) == {"note of the new records"}


async def test_records_put_back_from_an_older_copy_delete_nothing(settings: Settings) -> None:
    async with started(settings) as memory:
        await memory.memories.store("note of before the copy", None)
    older = settings.data_dir / "older.sqlite"
    shutil.copy(settings.data_dir / "records.sqlite", older)
    async with started(settings) as memory:
        await memory.memories.store("note of after the copy", None)
    empty_records(settings)
    shutil.copy(older, settings.data_dir / "records.sqlite")
    async with started(settings) as memory:
        assert await found(memory) == {"note of before the copy", "note of after the copy"}
        assert "1 entries that the records, with 1" in (await memory.service.advice())[-1]
        await memory.service.checks["entries"]()  # serving goes on: most entries are known


async def test_damaged_vectors_are_said_and_rebuilt_without_being_read(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {f"note {n} " * 20 for n in range(50)}
    async with started(settings) as memory:
        for text in texts:
            await memory.memories.store(text, None)
    garble_payloads(settings.vectors_dir / "collections" / settings.memory_collection_name)

    report = await doctor(capsys)
    [qdrant] = [each for each in report["findings"] if each["check"] == "qdrant"]
    assert qdrant["state"] == "fail"
    assert "damaged: rebuild it with: ctx memory rebuild" in qdrant["detail"]
    async with started(settings) as memory:
        with pytest.raises(StorageFailed, match="ctx memory rebuild"):
            await memory.service.checks["qdrant"]()
        with pytest.raises(StorageFailed, match="ctx memory rebuild"):
            await memory.memories.find("note", MemoryFilters(), 100)
        await memory.storage.healer.rebuild()
        assert await found(memory) == texts
        await memory.service.checks["qdrant"]()
