"""Storing, reading, changing and deleting, as the contract has it."""

import base64
from typing import Any

import pytest

from tests.support.contract import Thread, Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")

PIXEL = base64.b64encode(b"\x89PNG a small picture").decode()
IMAGE = {"data": PIXEL, "mime_type": "image/png", "position": 0}
ENTRY_KEYS = {
    "id",
    "thread_id",
    "source",
    "content_type",
    "text_content",
    "summary",
    "metadata",
    "tags",
    "created_at",
    "updated_at",
}


# --- store_context -------------------------------------------------------------------------


async def test_store_answers_the_id_and_keeps_everything(thread: Thread) -> None:
    body = await thread.tools.call(
        "store_context",
        thread_id=thread.id,
        source="agent",
        text="The cache key has no tenant",
        images=[IMAGE],
        metadata={"status": "open", "deep": {"list": [1, None, {"a": True}]}, "π": 3.5},
        tags=["  Cache ", "BUG", "cache", "", "   "],
    )
    assert set(body) == {"success", "context_id", "thread_id", "message"}
    assert body["success"] is True
    assert body["thread_id"] == thread.id
    entry = await thread.read(body["context_id"])
    assert set(entry) == ENTRY_KEYS | {"images"}
    assert entry["text_content"] == "The cache key has no tenant"
    assert entry["source"] == "agent"
    assert entry["content_type"] == "multimodal"
    assert entry["metadata"] == {
        "status": "open",
        "deep": {"list": [1, None, {"a": True}]},
        "π": 3.5,
    }
    assert sorted(entry["tags"]) == ["bug", "cache"]
    assert entry["images"] == [IMAGE]
    assert entry["created_at"] == entry["updated_at"]


async def test_an_entry_without_images_is_text(thread: Thread) -> None:
    entry = await thread.read(await thread.store("plain"))
    assert (entry["content_type"], entry["images"]) == ("text", [])
    assert (entry["metadata"], entry["tags"], entry["summary"]) == ({}, [], "")


async def test_a_repetition_with_nothing_between_updates(thread: Thread) -> None:
    first = await thread.store("again", tags=["one"], metadata={"n": 1})
    assert await thread.store("again", metadata={"n": 2}) == first
    entry = await thread.read(first)
    assert entry["metadata"] == {"n": 2}
    assert entry["tags"] == ["one"]
    assert entry["updated_at"] > entry["created_at"]
    other_source = await thread.store("again", source="agent")
    after_another = await thread.store("again")
    assert len({first, other_source, after_another}) == 3


async def test_the_same_text_in_another_thread_is_another_entry(thread: Thread) -> None:
    assert await thread.store("shared") != await Thread(thread.tools).store("shared")


LARGE = base64.b64encode(b"x" * 900).decode()
BAD_ENTRIES: list[tuple[dict[str, Any], str, str]] = [
    ({"text": "  \n"}, "text", "cannot be empty"),
    ({"source": "system"}, "source", "'user' or 'agent'"),
    ({"thread_id": "   "}, "thread_id", "cannot be empty"),
    ({"thread_id": "x" * 257}, "thread_id", "at most 256"),
    ({"images": [{"data": "not base64!", "mime_type": "image/png"}]}, "images.0.data", "base64"),
    ({"images": [{"data": "AAA", "mime_type": "image/png"}]}, "images.0.data", "base64"),
    ({"images": [{"data": "", "mime_type": "image/png"}]}, "images.0.data", "empty"),
    ({"images": [{"mime_type": "image/png"}]}, "images.0.data", "required"),
    ({"images": [{**IMAGE, "mime_type": "png"}]}, "images.0.mime_type", "pattern"),
    ({"images": [{**IMAGE, "mime_type": "text/html"}]}, "images.0.mime_type", "image/"),
    ({"images": [{**IMAGE, "metadata": "no JSON"}]}, "images.0.metadata", "object"),
    ({"images": [IMAGE, IMAGE]}, "images", "same position"),
    (
        {"images": [IMAGE, {"data": base64.b64encode(b"x" * 1100).decode()}]},
        "images.1.data",
        "MAX_IMAGE_SIZE_MB",
    ),
    (
        {"images": [{**IMAGE, "position": n, "data": LARGE} for n in range(12)]},
        "images",
        "10 times MAX_IMAGE_SIZE_MB",
    ),
    ({"metadata": '{"score": NaN}'}, "metadata", "nan"),
    ({"metadata": "not an object"}, "metadata", "object"),
    ({"tags": "a,b"}, "tags", "list"),
]


@pytest.mark.parametrize(("wrong", "field", "said"), BAD_ENTRIES)
async def test_a_wrong_entry_is_refused_and_says_why(
    thread: Thread, wrong: dict[str, Any], field: str, said: str
) -> None:
    good = {"thread_id": thread.id, "source": "user", "text": "fine"}
    body = await thread.tools.refused("store_context", **(good | wrong))
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field
    assert said in body["error"]
    assert (await thread.search())["count"] == 0


async def test_the_message_counts_the_images(thread: Thread) -> None:
    images = [{"data": PIXEL}, {"data": PIXEL, "mimeType": "image/gif"}]
    given = {"thread_id": thread.id, "source": "user", "text": "two pictures"}
    body = await thread.tools.call("store_context", **given, images=images)
    assert body["message"] == "Context stored with 2 images"
    body = await thread.tools.call("store_context", **given)
    assert body["message"].startswith("Context updated")
    body = await thread.tools.call("store_context", **given | {"text": "no picture"})
    assert body["message"] == "Context stored"


async def test_metadata_and_positions_of_images_are_kept(thread: Thread) -> None:
    images = [
        {"data": PIXEL, "mime_type": "image/png", "metadata": '{"a": 1}', "position": 7},
        {"data": PIXEL, "mime_type": "image/jpeg", "metadata": {"b": 2}, "position": 3},
    ]
    entry = await thread.read(await thread.store("pictures", images=images))
    assert [image["position"] for image in entry["images"]] == [3, 7]
    assert [image["metadata"] for image in entry["images"]] == [{"b": 2}, {"a": 1}]


# --- get_context_by_ids --------------------------------------------------------------------


async def test_reading_is_in_full_in_order_and_leaves_out_the_unknown(thread: Thread) -> None:
    long = "a long story " * 100
    first, second = await thread.store(long), await thread.store("short", images=[IMAGE])
    found = await thread.tools.call(
        "get_context_by_ids", context_ids=[second, 2_000_000_000, first, second]
    )
    assert [entry["id"] for entry in found] == [second, first]
    assert found[1]["text_content"] == long
    assert found[0]["images"] == [IMAGE]
    bare = await thread.tools.call("get_context_by_ids", context_ids=[second], include_images=False)
    assert set(bare[0]) == ENTRY_KEYS
    assert await thread.tools.call("get_context_by_ids", context_ids=[2_000_000_000]) == []


@pytest.mark.parametrize("ids", [[], [0], [-1], ["x"], [2**31]])
async def test_reading_refuses_what_is_no_id(tools: Tools, ids: list[Any]) -> None:
    body = await tools.refused("get_context_by_ids", context_ids=ids)
    assert body["details"]["field"].startswith("context_ids")


# --- update_context ------------------------------------------------------------------------


async def test_an_update_changes_only_what_is_given(thread: Thread) -> None:
    id_ = await thread.store("before", metadata={"a": 1}, tags=["keep"])
    body = await thread.tools.call("update_context", context_id=id_, text="after")
    assert set(body) == {"success", "context_id", "updated_fields", "message"}
    assert (body["success"], body["context_id"]) == (True, id_)
    assert body["updated_fields"] == ["text_content"]
    entry = await thread.read(id_)
    assert entry["text_content"] == "after"
    assert (entry["metadata"], entry["tags"]) == ({"a": 1}, ["keep"])
    assert entry["updated_at"] > entry["created_at"]
    body = await thread.tools.call("update_context", context_id=id_, tags=[" New "], metadata={})
    assert sorted(body["updated_fields"]) == ["metadata", "tags"]
    entry = await thread.read(id_)
    assert (entry["metadata"], entry["tags"]) == ({}, ["new"])


async def test_the_content_type_follows_the_images(thread: Thread) -> None:
    id_ = await thread.store("picture")
    for images, kind in (([IMAGE, {**IMAGE, "position": 1}], "multimodal"), ([], "text")):
        body = await thread.tools.call("update_context", context_id=id_, images=images)
        assert body["updated_fields"] == ["images", "content_type"]
        assert "Successfully updated" in body["message"]
        entry = await thread.read(id_)
        assert (entry["content_type"], entry["images"]) == (kind, images)


async def test_a_patch_merges_deeply_and_null_removes(thread: Thread) -> None:
    id_ = await thread.store(
        "patched", metadata={"a": {"b": 1, "c": 2}, "list": [1, 2], "gone": 1, "kept": "k"}
    )
    patch = {"a": {"b": None, "d": {"e": None, "f": 6}}, "list": [3], "gone": None, "new": "n"}
    body = await thread.tools.call("update_context", context_id=id_, metadata_patch=patch)
    assert body["updated_fields"] == ["metadata"]
    assert (await thread.read(id_))["metadata"] == {
        "a": {"c": 2, "d": {"f": 6}},
        "list": [3],
        "kept": "k",
        "new": "n",
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "At least one field must be provided"),
        ({"metadata": {}, "metadata_patch": {}}, "cannot come with metadata"),
        ({"text": " "}, "cannot be empty"),
        ({"images": [{"data": "?", "mime_type": "image/png"}]}, "base64"),
        ({"metadata_patch": '{"a": Infinity}'}, "metadata_patch"),
    ],
)
async def test_a_wrong_update_is_refused(thread: Thread, change: dict[str, Any], said: str) -> None:
    id_ = await thread.store("stays")
    body = await thread.tools.refused("update_context", context_id=id_, **change)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert said in body["error"]
    assert (await thread.read(id_))["text_content"] == "stays"


async def test_an_unknown_entry_cannot_be_updated(tools: Tools) -> None:
    body = await tools.refused("update_context", context_id=2_000_000_000, text="x")
    assert body["error_code"] == "ENTRY_NOT_FOUND"
    assert "2000000000 not found" in body["error"]
    assert (body["ok"], body["success"]) == (False, False)
    assert body["details"]["field"] == "context_id"


# --- delete_context ------------------------------------------------------------------------


async def test_deleting_by_ids_and_by_thread(thread: Thread) -> None:
    ids = [await thread.store(f"entry {n}", images=[IMAGE], tags=["t"]) for n in range(4)]
    body = await thread.tools.call("delete_context", context_ids=[ids[0], 2_000_000_000])
    assert set(body) == {"success", "deleted_count", "message"}
    assert (body["success"], body["deleted_count"]) == (True, 1)
    other = await Thread(thread.tools).store("elsewhere")
    both = await thread.tools.call(
        "delete_context", context_ids=[ids[1], other], thread_id=thread.id
    )
    assert both["deleted_count"] == 1
    assert await thread.read(other)
    assert (await thread.tools.call("delete_context", thread_id=thread.id))["deleted_count"] == 2
    assert (await thread.search())["count"] == 0
    assert await thread.search("semantic_search_context", query="entry") == {
        "query": "entry",
        "results": [],
        "count": 0,
        "model": "static-minilm-256",
    }


async def test_deleting_nothing_in_particular_is_refused(tools: Tools) -> None:
    body = await tools.refused("delete_context")
    assert "Must provide either context_ids or thread_id" in body["error"]
    await tools.refused("delete_context", context_ids=[])


@pytest.mark.parametrize("name", ["store_context", "delete_context", "search_context"])
async def test_the_name_of_a_thread_holds_no_nul(tools: Tools, name: str) -> None:
    more = {"source": "user", "text": "x"} if name == "store_context" else {}
    body = await tools.refused(name, thread_id="a\0b", **more)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == "thread_id"
    assert "NUL" in body["error"]
