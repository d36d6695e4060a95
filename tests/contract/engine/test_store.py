"""`store`: what it answers, keeps and refuses."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.support.contract import Collection, Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")

METADATA = {
    "kind": "pattern",
    "language": "python",
    "path": "jobs/reader.py",
    "tags": ["generators", "memory"],
    "priority": 8,
    "topic": "performance",
    "code": "yield from rows",
    "author": "ada",
    "created_at": "2024-01-15T10:30:00Z",
}


async def test_the_keys_of_the_result(collection: Collection) -> None:
    body = await collection.tools.call(
        "store", information="Read files row by row", session=collection.session
    )
    assert set(body) == {"ok", "id", "message"}
    assert body["ok"] is True
    assert body["message"] == "Successfully stored information"
    assert str(UUID(body["id"])) == body["id"]


async def test_everything_is_kept_as_it_was_given(collection: Collection) -> None:
    own = {"custom": {"nested": [1, None, "x"]}}
    id_ = await collection.store("Read files row by row 🦊", **METADATA, **own)
    [hit] = (await collection.find("files"))["results"]
    assert (hit["id"], hit["information"]) == (id_, "Read files row by row 🦊")
    assert hit["metadata"] == METADATA | own


async def test_the_time_is_filled_in(collection: Collection) -> None:
    await collection.store("dated by the server")
    [hit] = (await collection.find("dated"))["results"]
    age = datetime.now(UTC) - datetime.fromisoformat(hit["metadata"]["created_at"])
    assert timedelta(0) <= age < timedelta(minutes=5)


async def test_tags_may_be_one_string(collection: Collection) -> None:
    await collection.store("tagged", tags="a, b ,,")
    [hit] = (await collection.find("tagged", tags="B"))["results"]
    assert hit["metadata"]["tags"] == ["a", "b"]


async def test_metadata_may_come_as_json_text(collection: Collection) -> None:
    await collection.tools.call(
        "store",
        information="sent as text",
        metadata='{"language": "go"}',
        session=collection.session,
    )
    assert (await collection.find("sent", language="go"))["total"] == 1


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "information"),
        ({"information": ""}, "information"),
        ({"information": "  \n"}, "information"),
        ({"information": "x", "metadata": {"priority": -1}}, "metadata.priority"),
        ({"information": "x", "metadata": {"priority": 11}}, "metadata.priority"),
        ({"information": "x", "metadata": {"created_at": "yesterday"}}, "metadata.created_at"),
        ({"information": "x", "metadata": "no object"}, "metadata"),
    ],
)
async def test_wrong_arguments_are_refused(
    tools: Tools, arguments: dict[str, Any], field: str
) -> None:
    body = await tools.refused("store", **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"].startswith(field)
    assert body["details"]["message"]


@pytest.mark.parametrize(
    ("given", "kept"), [(0.0, 1), (0.25, 2), (0.9, 9), (1.0, 10), (1, 1), (10, 10), (0, 1)]
)
async def test_priorities_of_both_scales(collection: Collection, given: float, kept: int) -> None:
    await collection.store(f"something of priority {given}", kind="decision", priority=given)
    body = await collection.find("something of priority", kind="decision", top_k=1)
    [hit] = body["results"]
    assert (hit["metadata"]["kind"], hit["metadata"]["priority"]) == ("decision", kept)


async def test_any_word_is_a_kind(collection: Collection) -> None:
    await collection.store("the guide's own example", kind="memory", source="guide")
    body = await collection.find("example", kind="memory", colour="red")
    assert len(body["results"]) == 1
    assert body["warnings"] == ["colour: find has no such argument; it was ignored"]
