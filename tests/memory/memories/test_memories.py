"""`update_memory`, `delete_memory` and `list_memories`, over both databases."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest

from ctx_core.engine.engine import Engine
from ctx_core.errors import EntryNotFound, InvalidInput
from ctx_core.memories.memory import MemoryFilters
from ctx_core.memories.metadata import Metadata
from ctx_core.settings import Settings
from ctx_memory.memories.memories import Memories
from ctx_memory.memories.tools import memory_tools
from ctx_memory.projection.heal import Healer
from ctx_memory.service import open_memory

UNKNOWN = str(uuid4())


@pytest.fixture
def settings(data_dir: Path, records_url: str) -> Settings:
    return Settings(data_dir=data_dir, database_url=records_url)


@pytest.fixture
async def memories(settings: Settings, engine: Engine) -> AsyncIterator[Memories]:
    async with open_memory(settings, engine) as memory:
        yield memory.memories


async def store(memories: Memories, text: str, **metadata: Any) -> str:
    return (await memories.store(text, Metadata(**metadata)))["id"]


async def find(memories: Memories, query: str, **filters: Any) -> list[dict[str, Any]]:
    hits, *_ = await memories.find(query, MemoryFilters(**filters), 10)
    return [dict(hit) for hit in hits]


async def listed(memories: Memories, **filters: Any) -> list[str]:
    page, total = await memories.browse(MemoryFilters(**filters), 100, 0)
    assert len(page) == total
    return [memory["information"] for memory in page]


async def test_an_updated_text_is_what_is_found(memories: Memories) -> None:
    memory = await store(memories, "pools are sized by cores", kind="pattern", tags=["sql"])
    [before] = await find(memories, "pools")
    answer = await memories.update(memory, "caches expire by time", None, None)
    assert answer == {"ok": True, "id": memory, "updated": ["information"]}
    [after] = await find(memories, "caches expire")
    assert (after["id"], after["information"]) == (memory, "caches expire by time")
    assert after["metadata"] == before["metadata"]
    assert after["highlights"] == ["<<caches expire>> by time"]


async def test_metadata_is_replaced_whole_but_for_its_time(memories: Memories) -> None:
    memory = await store(memories, "note", kind="pattern", tags=["old"], priority=3)
    [before] = await find(memories, "note")
    given = Metadata(language="Go", tags=["New"])
    answer = await memories.update(memory, None, given, None)
    assert answer["updated"] == ["metadata"]
    [after] = await find(memories, "note", language="go")
    created = before["metadata"]["created_at"]
    assert after["metadata"] == {"language": "Go", "tags": ["New"], "created_at": created}
    assert await find(memories, "note", kind="pattern") == []
    assert await listed(memories, tags=["new"]) == ["note"]
    assert await listed(memories, tags=["old"]) == []


async def test_a_patch_changes_what_it_names(memories: Memories) -> None:
    memory = await store(memories, "note", kind="pattern", tags=["a"], priority=3, author="me")
    patch = {"priority": 9, "author": None, "tags": "b, c", "extra": {"deep": 1}}
    await memories.update(memory, None, None, patch)
    [hit] = await find(memories, "note", priority_min=9)
    shown = {key: value for key, value in hit["metadata"].items() if key != "created_at"}
    assert shown == {"kind": "pattern", "tags": ["b", "c"], "priority": 9, "extra": {"deep": 1}}
    assert await listed(memories, tags=["C"]) == ["note"]
    await memories.update(memory, None, None, {"tags": None, "extra": {"deep": None, "more": 2}})
    [memory_now], _ = await memories.browse(MemoryFilters(), 10, 0)
    assert "tags" not in memory_now["metadata"]
    assert memory_now["metadata"]["extra"] == {"more": 2}
    assert await listed(memories, tags=["c"]) == []


async def test_wrong_updates_change_nothing(memories: Memories) -> None:
    wrong: list[tuple[str, tuple[Any, Any, Any]]] = [
        ("information", (None, None, None)),
        ("information", ("  ", None, None)),
        ("metadata", (None, Metadata(), {})),
        ("metadata.created_at", (None, Metadata(created_at=datetime.now(UTC)), None)),
        ("metadata.priority", (None, None, {"priority": 11})),
        ("metadata.kind", (None, None, {"kind": "gossip" * 11})),
        ("metadata_patch.created_at", (None, None, {"created_at": "2024-01-01"})),
    ]
    memory = await store(memories, "note", priority=3)
    [before] = await find(memories, "note")
    for field, arguments in wrong:
        with pytest.raises(InvalidInput) as raised:
            await memories.update(memory, *arguments)
        assert raised.value.details["field"] == field
    assert await find(memories, "note") == [before]


async def test_what_is_deleted_is_found_no_more(memories: Memories) -> None:
    kept, *gone = [await store(memories, f"note {n}", tags=["x"]) for n in range(3)]
    assert await memories.delete(gone) == {"ok": True, "deleted": 2}
    assert [hit["id"] for hit in await find(memories, "note")] == [kept]
    assert await listed(memories) == ["note 0"]


async def test_unknown_ids_are_named_and_nothing_is_done(memories: Memories) -> None:
    memory = await store(memories, "note")
    with pytest.raises(EntryNotFound, match=UNKNOWN):
        await memories.delete([memory, UNKNOWN])
    with pytest.raises(EntryNotFound, match=UNKNOWN):
        await memories.update(UNKNOWN, "text", None, None)
    assert await listed(memories) == ["note"]


async def test_a_list_has_the_filters_of_find(memories: Memories) -> None:
    await store(memories, "one", kind="pattern", language="Python", priority=8, tags=["A"])
    await store(memories, "two", kind="snippet", language="go", topic="Data Bases", priority=5)
    await store(memories, "three")
    assert await listed(memories) == ["three", "two", "one"]
    assert await listed(memories, kind="pattern") == ["one"]
    assert await listed(memories, language="PYTHON") == ["one"]
    assert await listed(memories, topic=" data bases ") == ["two"]
    assert await listed(memories, priority_min=5) == ["two", "one"]
    assert await listed(memories, priority_min=6) == ["one"]
    assert await listed(memories, tags=["a", "zzz"]) == ["one"]
    assert await listed(memories, kind="pattern", language="go") == []


async def test_pages_and_sessions(memories: Memories) -> None:
    for number in range(5):
        await store(memories, f"{number}")
    session = memories.sessions.set("team", None)["session"]
    await memories.store("theirs", None, session)
    tools = {
        tool.name: tool.run
        for tool in memory_tools(memories, cast(Healer, None), memories.sessions, cast(Any, str))
    }
    page = await tools["list_memories"](limit=2, offset=2)
    assert [memory["information"] for memory in page["results"]] == ["2", "1"]
    assert {key: page[key] for key in page if key != "results"} == {
        "ok": True,
        "total": 5,
        "limit": 2,
        "offset": 2,
        "has_more": True,
    }
    last = await tools["list_memories"](limit=2, offset=4)
    assert (len(last["results"]), last["has_more"]) == (1, False)
    theirs = await tools["list_memories"](session=session)
    assert [memory["information"] for memory in theirs["results"]] == ["theirs"]


async def test_several_are_deleted_by_one_call(memories: Memories) -> None:
    tools = {
        tool.name: tool.run
        for tool in memory_tools(memories, cast(Healer, None), memories.sessions, cast(Any, str))
    }
    first, second, third = [await store(memories, f"{n}") for n in range(3)]
    assert (await tools["delete_memory"](first))["deleted"] == 1
    assert (await tools["delete_memory"]([second, third, third]))["deleted"] == 2
    with pytest.raises(InvalidInput, match="memory_ids"):
        await tools["delete_memory"]([])
