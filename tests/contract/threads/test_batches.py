"""Batches, as the contract has them."""

from typing import Any

import pytest

from tests.support.contract import Thread, Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")

KEYS = {"success", "total", "succeeded", "failed", "results", "message"}


def entry(thread: Thread, text: str, **more: Any) -> dict[str, Any]:
    return {"thread_id": thread.id, "source": "user", "text": text, **more}


async def test_a_batch_is_stored_in_its_order(thread: Thread) -> None:
    entries = [entry(thread, f"entry {n}", tags=[f"T{n}"], metadata={"n": n}) for n in range(100)]
    body = await thread.tools.call("store_context_batch", entries=entries)
    assert set(body) == KEYS
    assert (body["success"], body["total"], body["succeeded"], body["failed"]) == (
        True,
        100,
        100,
        0,
    )
    assert [item["index"] for item in body["results"]] == list(range(100))
    ids = [item["context_id"] for item in body["results"]]
    assert ids == sorted(ids)
    found = await thread.tools.call("get_context_by_ids", context_ids=ids)
    assert [item["text_content"] for item in found] == [f"entry {n}" for n in range(100)]
    assert found[7]["tags"] == ["t7"]


async def test_a_repetition_inside_a_batch_updates(thread: Thread) -> None:
    entries = [entry(thread, text) for text in ("same", "same", "other", "same")]
    body = await thread.tools.call("store_context_batch", entries=entries)
    first, second, third, fourth = (item["context_id"] for item in body["results"])
    assert first == second
    assert len({first, third, fourth}) == 3
    assert body["message"] == "Stored 3 of 4 entries; 1 repeated the entry before and updated it"


async def test_an_atomic_batch_stores_all_or_nothing(thread: Thread) -> None:
    wrong = [entry(thread, "fine"), entry(thread, " "), {"thread_id": thread.id, "text": "x"}]
    body = await thread.tools.refused("store_context_batch", entries=wrong)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert "nothing was stored" in body["error"]
    assert "entries.1.text" in body["error"]
    assert "entries.2.source" in body["error"]
    assert [item["index"] for item in body["details"]["errors"]] == [1, 2]
    assert body.keys() >= KEYS
    assert (body["total"], body["succeeded"], body["failed"]) == (3, 0, 3)
    assert (body["ok"], body["success"]) == (False, False)
    assert [item["index"] for item in body["results"]] == [0, 1, 2]
    assert "cannot be empty" in body["results"][1]["error"]
    assert "atomic" in body["results"][0]["error"]
    assert "First error at index 1" in body["message"]
    assert (await thread.search())["count"] == 0


async def test_a_batch_that_is_not_atomic_stores_what_it_can(thread: Thread) -> None:
    items: list[Any] = [
        entry(thread, "first"),
        entry(thread, ""),
        "not an object",
        entry(thread, "second", images=[{"data": "?"}]),
        entry(thread, "third", colour="red"),
        entry(thread, "last", metadata={"n": [1]}),
    ]
    body = await thread.tools.call("store_context_batch", entries=items, atomic=False)
    assert (body["success"], body["total"], body["succeeded"], body["failed"]) == (False, 6, 2, 4)
    good = [item["success"] for item in body["results"]]
    assert good == [True, False, False, False, False, True]
    for item in body["results"]:
        assert (item["error"] is None) == item["success"]
        assert (item["context_id"] is not None) == item["success"]
    assert "base64" in body["results"][3]["error"]
    assert "colour" in body["results"][4]["error"]
    assert await thread.texts() == ["last", "first"]


@pytest.mark.parametrize("count", [0, 101])
async def test_a_batch_has_one_to_a_hundred_items(thread: Thread, count: int) -> None:
    entries = [entry(thread, f"{n}") for n in range(count)]
    body = await thread.tools.refused("store_context_batch", entries=entries)
    assert body["details"]["field"] == "entries"
    body = await thread.tools.refused(
        "update_context_batch", updates=[{"context_id": 1, "text": "x"}] * count
    )
    assert body["details"]["field"] == "updates"


async def test_many_updates(thread: Thread) -> None:
    first = await thread.store("one", metadata={"a": 1, "b": 2})
    second = await thread.store("two")
    body = await thread.tools.call(
        "update_context_batch",
        updates=[
            {"context_id": first, "metadata_patch": {"a": None}},
            {"context_id": second, "text": "zwei", "tags": ["Y"]},
        ],
    )
    assert set(body) == KEYS
    assert body["success"] is True
    assert [item["context_id"] for item in body["results"]] == [first, second]
    assert [sorted(item["updated_fields"]) for item in body["results"]] == [
        ["metadata"],
        ["tags", "text_content"],
    ]
    assert (await thread.read(first))["metadata"] == {"b": 2}
    assert (await thread.read(second))["text_content"] == "zwei"


async def test_atomic_updates_are_all_or_nothing(thread: Thread) -> None:
    id_ = await thread.store("before")
    unknown = [{"context_id": id_, "text": "after"}, {"context_id": 2_000_000_000, "text": "x"}]
    body = await thread.tools.refused("update_context_batch", updates=unknown)
    assert body["error_code"] == "ENTRY_NOT_FOUND"
    assert body.keys() >= KEYS
    assert "not found" in body["results"][1]["error"]
    assert [item["context_id"] for item in body["results"]] == [id_, 2_000_000_000]
    assert "batch" not in body["details"]
    invalid = [{"context_id": id_, "text": "after"}, {"context_id": id_}]
    body = await thread.tools.refused("update_context_batch", updates=invalid)
    assert "updates.1" in body["error"]
    assert (await thread.read(id_))["text_content"] == "before"


async def test_updates_that_are_not_atomic_report_each(thread: Thread) -> None:
    id_ = await thread.store("before")
    body = await thread.tools.call(
        "update_context_batch",
        updates=[
            {"context_id": 2_000_000_000, "text": "x"},
            {"context_id": id_, "text": "after"},
            {"context_id": id_, "metadata": {}, "metadata_patch": {}},
        ],
        atomic=False,
    )
    assert (body["succeeded"], body["failed"], body["success"]) == (1, 2, False)
    assert [item["success"] for item in body["results"]] == [False, True, False]
    assert [item["context_id"] for item in body["results"]] == [2_000_000_000, id_, id_]
    assert "2000000000" in body["results"][0]["error"]
    assert (await thread.read(id_))["text_content"] == "after"


# --- delete_context_batch ------------------------------------------------------------------


async def test_deleting_by_criteria_that_all_hold(thread: Thread) -> None:
    tools, other = thread.tools, Thread(thread.tools)
    mine = [await thread.store(f"{n}", source=("user", "agent")[n % 2]) for n in range(4)]
    theirs = [await other.store(f"{n}") for n in range(2)]
    body = await tools.call(
        "delete_context_batch", thread_ids=[thread.id, other.id], source="agent"
    )
    assert set(body) == {"success", "deleted_count", "criteria_used", "message"}
    assert body["deleted_count"] == 2
    assert body["criteria_used"] == ["thread_ids", "source"]
    body = await tools.call(
        "delete_context_batch", context_ids=[mine[0], theirs[0]], thread_ids=[thread.id]
    )
    assert body["deleted_count"] == 1
    assert len(await thread.texts()) == 1
    assert len(await other.texts()) == 2
    body = await tools.call("delete_context_batch", thread_ids=[thread.id], older_than_days=1)
    assert (body["success"], body["deleted_count"]) == (True, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "at least one of context_ids, thread_ids, older_than_days"),
        ({"source": "user"}, "beside source"),
        ({"older_than_days": 0}, "greater than or equal to 1"),
        ({"thread_ids": []}, "at least 1 item"),
        ({"context_ids": []}, "at least 1 item"),
        ({"source": "robot", "older_than_days": 1}, "'user' or 'agent'"),
    ],
)
async def test_too_little_to_delete_by(tools: Tools, arguments: Any, said: str) -> None:
    body = await tools.refused("delete_context_batch", **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert said in body["error"]
