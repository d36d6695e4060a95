"""Leases on the outbox, on both databases: one process at a time writes an entry's points."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from ctx_core.clock import utc_now
from ctx_memory.records import outbox
from ctx_memory.records.entry import Change, Criteria, Draft, EntryKind
from ctx_memory.records.health import examine
from ctx_memory.records.store import Records


def note(text: str) -> Draft:
    return Draft(EntryKind.MEMORY, "memories", text)


@pytest.fixture
async def other(records: Records, records_url: str) -> AsyncIterator[Records]:
    """Another process, as far as the database can tell."""
    opened = await Records.open(records_url)
    yield opened
    await opened.close()


async def test_a_leased_item_has_the_entry_as_it_is_now(records: Records) -> None:
    [(entry_id, uuid, _)] = await records.entries.add([note("old")])
    await records.entries.change([Change(entry_id, text="new")], EntryKind.MEMORY)
    first, second = await records.outbox.lease(10)
    assert (first.uuid, first.kind, first.collection) == (uuid, EntryKind.MEMORY, "memories")
    assert first.entry is not None
    assert first.entry.text == "new"
    assert first.entry == second.entry


async def test_the_item_of_a_removed_entry_has_none(records: Records) -> None:
    [(_, uuid, _)] = await records.entries.add([note("gone")])
    await records.outbox.done(await records.outbox.lease(10))
    await records.entries.remove(Criteria(EntryKind.MEMORY))
    [due] = await records.outbox.lease(10)
    assert (due.uuid, due.entry) == (uuid, None)


async def test_a_leased_row_is_leased_by_no_other(records: Records, other: Records) -> None:
    await records.entries.add([note(f"{n}") for n in range(5)])
    mine = await records.outbox.lease(2)
    theirs = await other.outbox.lease(10)
    assert [item.entry.text for item in mine if item.entry] == ["0", "1"]
    assert [item.entry.text for item in theirs if item.entry] == ["2", "3", "4"]
    await records.outbox.done(mine)
    await other.outbox.done(theirs)
    assert await records.outbox.pending() == 0


async def test_no_other_row_of_a_leased_entry_is_leased(records: Records, other: Records) -> None:
    [(entry_id, uuid, _)] = await records.entries.add([note("old")])
    mine = await records.outbox.lease(10)
    await other.entries.change([Change(entry_id, text="new")], EntryKind.MEMORY)
    assert await other.outbox.lease(10) == []
    assert await other.outbox.pending([uuid]) == 2
    await records.outbox.done(mine)
    [due] = await other.outbox.lease(10)
    assert due.entry is not None
    assert due.entry.text == "new"


async def test_leases_of_a_dead_process_end(
    records: Records, other: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    await records.entries.add([note("text")])
    assert len(await records.outbox.lease(10)) == 1
    assert await other.outbox.lease(10) == []
    await records.outbox.release()
    monkeypatch.setattr(outbox, "LEASE_SECONDS", 0.2)
    assert len(await records.outbox.lease(10)) == 1
    await asyncio.sleep(0.3)
    assert len(await other.outbox.lease(10)) == 1


async def test_a_lease_of_a_clock_that_was_wrong_holds_nothing_up(
    records: Records, other: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    await records.entries.add([note("text")])
    with monkeypatch.context() as wrong:
        wrong.setattr(outbox, "utc_now", lambda: utc_now() + timedelta(days=1))
        assert len(await records.outbox.lease(10)) == 1
    assert len(await other.outbox.lease(10)) == 1


async def test_leases_can_be_renewed_and_released(
    records: Records, other: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    await records.entries.add([note("text")])
    monkeypatch.setattr(outbox, "LEASE_SECONDS", 0.2)
    await records.outbox.lease(10)
    monkeypatch.setattr(outbox, "LEASE_SECONDS", 60.0)
    await records.outbox.renew()
    await asyncio.sleep(0.3)
    assert await other.outbox.lease(10) == []
    await records.outbox.release()
    assert len(await other.outbox.lease(10)) == 1
    await records.outbox.release(everybody=True)
    assert len(await records.outbox.lease(10)) == 1


async def test_an_entry_whose_lease_ran_out_is_written_once_more(
    records: Records, other: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    [(_, uuid, _)] = await records.entries.add([note("text")])
    monkeypatch.setattr(outbox, "LEASE_SECONDS", 0.05)
    late = await records.outbox.lease(10)
    await asyncio.sleep(0.1)
    await other.outbox.done(await other.outbox.lease(10))
    assert await records.outbox.pending() == 0
    await records.outbox.done(late)
    [due] = await records.outbox.lease(10)
    assert due.uuid == uuid


async def test_a_parked_row_waits_for_a_change_or_a_retry(
    records: Records, records_url: str
) -> None:
    [(entry_id, _, _), _] = await records.entries.add([note("bad"), note("good")])
    bad, good = await records.outbox.lease(10)
    await records.outbox.park(bad, "cannot be")
    await records.outbox.done([good])
    assert (await examine(records_url)).problems == ["cannot be"]
    assert (await records.outbox.pending(), await records.outbox.lease(10)) == (0, [])
    await records.outbox.retry_parked()
    [again] = await records.outbox.lease(10)
    await records.outbox.park(again, "still not")
    await records.entries.change([Change(entry_id, text="better")], EntryKind.MEMORY)
    await records.outbox.done(await records.outbox.lease(10))
    assert (await examine(records_url)).problems == []
