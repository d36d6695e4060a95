"""`update_memory`, `delete_memory` and `list_memories`, and collections by session."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.contract import Collection, Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")

UNKNOWN = str(uuid4())


async def test_an_update_changes_what_is_given(collection: Collection) -> None:
    id_ = await collection.store("pools by cores", kind="pattern", tags=["sql"], priority=3)
    call = collection.tools.call
    body = await call("update_memory", memory_id=id_, information="pools by workers")
    assert body == {"ok": True, "id": id_, "updated": ["information"]}
    body = await call("update_memory", memory_id=id_, metadata_patch={"priority": 9, "tags": None})
    assert body["updated"] == ["metadata"]
    [hit] = (await collection.find("pools", priority_min=9))["results"]
    assert hit["information"] == "pools by workers"
    assert "tags" not in hit["metadata"]
    await call("update_memory", memory_id=id_, metadata={"language": "go"})
    [hit] = (await collection.find("pools", language="go"))["results"]
    assert set(hit["metadata"]) == {"language", "created_at"}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "information"),
        ({"information": " "}, "information"),
        ({"metadata": {}, "metadata_patch": {}}, "metadata"),
        ({"metadata_patch": {"priority": 11}}, "metadata.priority"),
        ({"metadata": {"created_at": "2024-01-01T00:00:00Z"}}, "metadata.created_at"),
    ],
)
async def test_wrong_updates_are_refused(
    collection: Collection, arguments: dict[str, Any], field: str
) -> None:
    id_ = await collection.store("note")
    body = await collection.tools.refused("update_memory", memory_id=id_, **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field


async def test_deleting_one_and_several(collection: Collection) -> None:
    first, second, third, kept = [await collection.store(f"note {n}") for n in range(4)]
    call = collection.tools.call
    assert await call("delete_memory", memory_ids=first) == {"ok": True, "deleted": 1}
    assert (await call("delete_memory", memory_ids=[second, third]))["deleted"] == 2
    assert [hit["id"] for hit in (await collection.find("note"))["results"]] == [kept]


async def test_unknown_memories_are_named_and_nothing_is_done(collection: Collection) -> None:
    id_ = await collection.store("note")
    for name, arguments in (
        ("delete_memory", {"memory_ids": [id_, UNKNOWN]}),
        ("update_memory", {"memory_id": UNKNOWN, "information": "x"}),
    ):
        body = await collection.tools.refused(name, **arguments)
        assert body["error_code"] == "ENTRY_NOT_FOUND"
        assert UNKNOWN in body["error"]
        assert body["details"]["unknown"] == [UNKNOWN]
    assert (await collection.list())["total"] == 1


@pytest.mark.parametrize("count", [0, 101])
async def test_a_call_deletes_one_to_a_hundred(tools: Tools, count: int) -> None:
    body = await tools.refused("delete_memory", memory_ids=[UNKNOWN] * count)
    assert body["details"]["field"] == "memory_ids"


async def test_a_list_is_newest_first_in_pages(collection: Collection) -> None:
    for number in range(5):
        await collection.store(f"{number}", priority=number + 1)
    body = await collection.list(limit=2, offset=2)
    assert set(body) == {"ok", "results", "total", "limit", "offset", "has_more"}
    assert [each["information"] for each in body["results"]] == ["2", "1"]
    for each in body["results"]:
        assert set(each) == {"id", "information", "metadata", "updated_at"}
    assert (body["total"], body["limit"], body["offset"], body["has_more"]) == (5, 2, 2, True)
    last = await collection.list(limit=2, offset=4)
    assert (len(last["results"]), last["has_more"]) == (1, False)
    assert (await collection.list(priority_min=4))["total"] == 2


async def test_a_session_has_a_collection_of_its_own(tools: Tools) -> None:
    ours, theirs = await Collection.open(tools), await Collection.open(tools)
    await ours.store("for us")
    await theirs.store("for them")
    assert (await ours.list())["total"] == 1
    assert [hit["information"] for hit in (await theirs.find("for"))["results"]] == ["for them"]


async def test_a_collection_is_asked_by_its_name(tools: Tools) -> None:
    await tools.call("store", information="the queue has one worker", collection="queue-notes")
    await tools.call("store", information="the queue is a table")
    for name, query in (("find", {"query": "queue"}), ("list_memories", {})):
        body = await tools.call(name, **query, collection="queue-notes")
        assert [each["information"] for each in body["results"]] == ["the queue has one worker"]
        refused = await tools.refused(name, **query, collection="nowhere")
        assert refused["error_code"] == "COLLECTION_NOT_FOUND"
        assert "queue-notes" in refused["error"]


async def test_the_answer_of_set_session_defaults(tools: Tools) -> None:
    await tools.call("store", information="the first", collection="codebase-notes")
    body = await tools.call("set_session_defaults", collection="codebase-notes")
    assert set(body) == {"ok", "session", "defaults", "applied"}
    assert body["defaults"] == {"collection": "codebase-notes"}
    assert body["applied"] in ("connection", "session")
    refused = await tools.refused("set_session_defaults", collection="no/such name")
    assert refused["details"]["field"] == "collection"


async def test_collections_of_others_cannot_be_chosen(tools: Tools) -> None:
    for name in ("codebase", "threads"):
        refused = await tools.refused("set_session_defaults", collection=name)
        assert refused["error_code"] == "VALIDATION_ERROR"
        refused = await tools.refused("store", information="x", collection=name)
        assert "holds entries of another kind" in refused["error"]


async def test_an_unknown_collection_is_refused_with_those_there_are(tools: Tools) -> None:
    refused = await tools.refused("set_session_defaults", collection="nowhere")
    assert refused["error_code"] == "VALIDATION_ERROR"
    assert refused["details"]["field"] == "collection"
    assert "memories" in refused["error"].split("there are: ")[1].split(";")[0].split(", ")
    assert "store with a collection makes another" in refused["error"]
    await tools.call("store", information="the first", collection="somewhere")
    body = await tools.call("set_session_defaults", collection="somewhere", session="some")
    assert body["defaults"] == {"collection": "somewhere"}
    found = await tools.call("find", query="the first", session=body["session"])
    assert [hit["information"] for hit in found["results"]] == ["the first"]
