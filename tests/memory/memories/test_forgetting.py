"""What expired or was superseded leaves the results and stays in the records."""

from datetime import timedelta

import pytest

from ctx_core.clock import to_iso, utc_now
from ctx_core.errors import EntryNotFound, InvalidInput
from ctx_core.memories.memory import MemoryFilters
from ctx_core.memories.metadata import Metadata
from ctx_memory.memories.memories import Memories


async def found(memories: Memories, query: str) -> list[str]:
    return [hit["id"] for hit in (await memories.find(query, MemoryFilters(), 10)).hits]


async def listed(memories: Memories, *, forgotten: bool) -> list[str]:
    page, total = await memories.browse(MemoryFilters(), 10, 0, forgotten=forgotten)
    assert total == len(page)
    return [each["id"] for each in page]


async def test_what_expired_is_listed_only_on_request(memories: Memories) -> None:
    now = utc_now()
    past = Metadata(expires_at=now - timedelta(seconds=5))
    future = Metadata(expires_at=now + timedelta(hours=1))
    old = (await memories.store("the demo password is changed on Mondays", past))["id"]
    new = (await memories.store("the demo server restarts on Mondays", future))["id"]
    plain = (await memories.store("the demo starts on Mondays", None))["id"]
    recalled = await memories.find("demo Mondays", MemoryFilters(), 10)
    assert {hit["id"] for hit in recalled.hits} == {new, plain}
    assert recalled.total == 2
    assert set(await listed(memories, forgotten=False)) == {new, plain}
    assert set(await listed(memories, forgotten=True)) == {old, new, plain}


async def test_what_was_superseded_is_listed_only_on_request(memories: Memories) -> None:
    old = (await memories.store("Releases are cut on Fridays", None))["id"]
    stored = await memories.store("Releases are cut on Tuesdays", Metadata(supersedes=old))
    assert "degraded" not in stored
    assert await found(memories, "when are releases cut") == [stored["id"]]
    assert await listed(memories, forgotten=False) == [stored["id"]]
    assert await listed(memories, forgotten=True) == [stored["id"], old]
    page, _ = await memories.browse(MemoryFilters(), 10, 0, forgotten=True)
    assert page[0]["metadata"]["supersedes"] == old
    assert page[1]["metadata"]["superseded_by"] == stored["id"]


async def test_an_expiry_can_be_set_and_taken_back(memories: Memories) -> None:
    id_ = (await memories.store("the demo starts on Mondays", None))["id"]
    await memories.update(id_, None, None, {"expires_at": to_iso(utc_now())})
    assert await found(memories, "demo") == []
    await memories.update(id_, None, None, {"expires_at": None})
    assert await found(memories, "demo") == [id_]


async def test_an_unknown_memory_cannot_be_superseded(memories: Memories) -> None:
    unknown = "00000000-0000-0000-0000-000000000000"
    with pytest.raises(EntryNotFound, match=unknown):
        await memories.store("Releases are cut on Tuesdays", Metadata(supersedes=unknown))
    assert await listed(memories, forgotten=True) == []
    id_ = (await memories.store("a note", None))["id"]
    with pytest.raises(InvalidInput, match="supersedes"):
        await memories.update(id_, None, None, {"supersedes": unknown})
