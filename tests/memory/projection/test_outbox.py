"""The outbox over a real engine: points are of the last revision in SQL."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ctx_core.engine.engine import Engine
from ctx_core.settings import Settings
from ctx_core.vectors.points import Point
from ctx_memory.projection.collections import ProjectedCollections
from ctx_memory.projection.outbox import Outbox
from ctx_memory.projection.projection import ProjectionTarget
from ctx_memory.records import outbox as rows
from ctx_memory.records.entry import Change, Criteria, Draft, Entry, EntryKind
from ctx_memory.records.health import examine
from ctx_memory.records.store import Records
from ctx_memory.search.points import MemoryProjection

NAME = "memories"


@pytest.fixture
def settings(data_dir: Path) -> Settings:
    return Settings(data_dir=data_dir)


class SlowProjection(MemoryProjection):
    """Stops between reading an entry and writing it, until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def points(self, entries: Sequence[Entry], embedder: Any) -> list[Point]:
        made = super().points(entries, embedder)
        self.reached.set()
        assert self.go_on.wait(10)
        return made


def outbox(engine: Engine, records: Records, projection: MemoryProjection) -> Outbox:
    targets = {EntryKind.MEMORY: ProjectionTarget(projection, NAME)}
    collections = ProjectedCollections(engine.vectors, engine.embedder, targets)
    return Outbox(records.outbox, collections, alone=False)


async def shown(engine: Engine) -> list[str]:
    rows, _ = await engine.vectors.scroll(NAME)
    return [row.payload["information"] for row in rows]


async def test_an_older_revision_never_overwrites_a_newer_one(
    engine: Engine, records_url: str
) -> None:
    ours, theirs = await Records.open(records_url), await Records.open(records_url)
    slow = SlowProjection()
    first, second = outbox(engine, ours, slow), outbox(engine, theirs, MemoryProjection())
    [(entry_id, uuid, _)] = await ours.entries.add([Draft(EntryKind.MEMORY, NAME, "old")])
    writing_old = asyncio.create_task(first.drain([uuid]))
    await asyncio.to_thread(slow.reached.wait, 10)
    await theirs.entries.change([Change(entry_id, text="new")], EntryKind.MEMORY)
    writing_new = asyncio.create_task(second.drain([uuid]))
    await asyncio.sleep(0.3)
    assert not writing_new.done()
    slow.go_on.set()
    await asyncio.gather(writing_old, writing_new)
    assert await shown(engine) == ["new"]
    assert await ours.outbox.pending() == 0
    await ours.close()
    await theirs.close()


async def test_a_process_whose_lease_ran_out_has_its_entry_written_again(
    engine: Engine, records_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = await Records.open(records_url), await Records.open(records_url)
    slow = SlowProjection()
    first, second = outbox(engine, ours, slow), outbox(engine, theirs, MemoryProjection())
    [(entry_id, _, _)] = await ours.entries.add([Draft(EntryKind.MEMORY, NAME, "old")])
    monkeypatch.setattr(rows, "LEASE_SECONDS", 0.1)
    writing_old = asyncio.create_task(first.drain())
    await asyncio.to_thread(slow.reached.wait, 10)
    monkeypatch.setattr(rows, "LEASE_SECONDS", 30.0)
    await theirs.entries.change([Change(entry_id, text="new")], EntryKind.MEMORY)
    await asyncio.sleep(0.2)
    await second.drain()
    assert await shown(engine) == ["new"]
    slow.go_on.set()
    await writing_old
    assert await shown(engine) == ["old"]  # it wrote after all; it has noticed
    await second.drain()
    assert await shown(engine) == ["new"]
    await ours.close()
    await theirs.close()


async def test_a_deleted_entry_stays_deleted_although_it_was_being_written(
    engine: Engine, records_url: str
) -> None:
    records = await Records.open(records_url)
    slow = SlowProjection()
    draining = outbox(engine, records, slow)
    await records.entries.add([Draft(EntryKind.MEMORY, NAME, "gone")])
    writing = asyncio.create_task(draining.drain())
    await asyncio.to_thread(slow.reached.wait, 10)
    await records.entries.remove(Criteria(EntryKind.MEMORY))
    slow.go_on.set()
    await writing
    await draining.drain()
    assert await shown(engine) == []
    await records.close()


class PickyProjection(MemoryProjection):
    """Refuses one text."""

    def points(self, entries: Sequence[Entry], embedder: Any) -> list[Point]:
        if any(entry.text == "bad" for entry in entries):
            raise ValueError("nothing can be made of this")
        return super().points(entries, embedder)


async def test_one_entry_that_cannot_be_written_holds_up_no_other(
    engine: Engine, records_url: str
) -> None:
    records = await Records.open(records_url)
    draining = outbox(engine, records, PickyProjection())
    added = await records.entries.add(
        [Draft(EntryKind.MEMORY, NAME, text) for text in ("a", "bad", "c")]
    )
    [bad, uuid, _] = added[1]
    await draining.drain()
    assert sorted(await shown(engine)) == ["a", "c"]
    assert (await examine(records_url)).problems == ["nothing can be made of this"]
    assert draining.problems == {uuid: "nothing can be made of this"}
    await records.entries.change([Change(bad, text="better")], EntryKind.MEMORY)
    await draining.drain()
    assert sorted(await shown(engine)) == ["a", "better", "c"]
    assert ((await examine(records_url)).problems, draining.problems) == ([], {})
    await records.close()
