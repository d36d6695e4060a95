"""Leases on the outbox, on both databases: one process at a time writes an entry's points."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from ctx_core.clock import utc_now
from ctx_memory.records import leases
from ctx_memory.records.store import Records
from ctx_memory.records.types import Change, Criteria, Draft, EntryKind


def note(text: str) -> Draft:
    return Draft(EntryKind.MEMORY, "memories", text)


@pytest.fixture
async def other(records: Records, records_url: str) -> AsyncIterator[Records]:
    """Another process, as far as the database can tell."""
    opened = await Records.open(records_url)
    yield opened
    await opened.close()


async def test_a_leased_item_has_the_entry_as_it_is_now(records: Records) -> None:
    [(entry_id, uuid, _)] = await records.add([note("old")])
    await records.change([Change(entry_id, text="new")], EntryKind.MEMORY)
    first, second = await records.lease(10)
    assert (first.uuid, first.kind, first.collection) == (uuid, EntryKind.MEMORY, "memories")
    assert first.entry is not None
    assert first.entry.text == "new"
    assert first.entry == second.entry


async def test_the_item_of_a_removed_entry_has_none(records: Records) -> None:
    [(_, uuid, _)] = await records.add([note("gone")])
    await records.done(await records.lease(10))
    await records.remove(Criteria(EntryKind.MEMORY))
    [due] = await records.lease(10)
    assert (due.uuid, due.entry) == (uuid, None)


async def test_a_leased_row_is_leased_by_no_other(records: Records, other: Records) -> None:
    await records.add([note(f"{n}") for n in range(5)])
    mine = await records.lease(2)
    theirs = await other.lease(10)
    assert [item.entry.text for item in mine if item.entry] == ["0", "1"]
    assert [item.entry.text for item in theirs if item.entry] == ["2", "3", "4"]
    await records.done(mine)
    await other.done(theirs)
    assert await records.pending() == 0


async def test_no_other_row_of_a_leased_entry_is_leased(records: Records, other: Records) -> None:
    [(entry_id, uuid, _)] = await records.add([note("old")])
    mine = await records.lease(10)
    await other.change([Change(entry_id, text="new")], EntryKind.MEMORY)
    assert await other.lease(10) == []
    assert await other.pending([uuid]) == 2
    await records.done(mine)
    [due] = await other.lease(10)
    assert due.entry is not None
    assert due.entry.text == "new"


async def test_leases_of_a_dead_process_end(
    records: Records, other: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    await records.add([note("text")])
    assert len(await records.lease(10)) == 1
    assert await other.lease(10) == []
    await records.release()
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.2)
    assert len(await records.lease(10)) == 1
    await asyncio.sleep(0.3)
    assert len(await other.lease(10)) == 1


async def test_a_lease_of_a_clock_that_was_wrong_holds_nothing_up(
    records: Records, other: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    await records.add([note("text")])
    with monkeypatch.context() as wrong:
        wrong.setattr(leases, "utc_now", lambda: utc_now() + timedelta(days=1))
        assert len(await records.lease(10)) == 1
    assert len(await other.lease(10)) == 1


async def test_leases_can_be_renewed_and_released(
    records: Records, other: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    await records.add([note("text")])
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.2)
    await records.lease(10)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 60.0)
    await records.renew()
    await asyncio.sleep(0.3)
    assert await other.lease(10) == []
    await records.release()
    assert len(await other.lease(10)) == 1
    await records.release(everybody=True)
    assert len(await records.lease(10)) == 1


async def test_an_entry_whose_lease_ran_out_is_written_once_more(
    records: Records, other: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    [(_, uuid, _)] = await records.add([note("text")])
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.05)
    late = await records.lease(10)
    await asyncio.sleep(0.1)
    await other.done(await other.lease(10))
    assert await records.pending() == 0
    await records.done(late)
    [due] = await records.lease(10)
    assert due.uuid == uuid


async def test_a_parked_row_waits_for_a_change_or_a_retry(records: Records) -> None:
    [(entry_id, uuid, _), _] = await records.add([note("bad"), note("good")])
    bad, good = await records.lease(10)
    await records.park(bad, "cannot be")
    await records.done([good])
    assert await records.parked() == [(uuid, "cannot be")]
    assert (await records.pending(), await records.lease(10)) == (0, [])
    await records.retry_parked()
    [again] = await records.lease(10)
    await records.park(again, "still not")
    await records.change([Change(entry_id, text="better")], EntryKind.MEMORY)
    await records.done(await records.lease(10))
    assert await records.parked() == []
