"""What expired or was superseded stays away from `find`, whatever is changed afterwards."""

import pytest

from tests.support.contract import Collection

pytestmark = pytest.mark.asyncio(loop_scope="package")

PAST = "2020-01-01T00:00:00Z"


async def found(collection: Collection, query: str) -> list[str]:
    return [hit["id"] for hit in (await collection.find(query))["results"]]


async def test_new_metadata_does_not_bring_a_superseded_memory_back(collection: Collection) -> None:
    old = await collection.store("The key rotates every 30 days", topic="keys")
    new = await collection.store("The key rotates every 90 days", supersedes=old)
    call = collection.tools.call
    await call("update_memory", memory_id=old, metadata={"topic": "rotation"})
    assert await found(collection, "key rotation") == [new]
    await call("update_memory", memory_id=new, metadata={"topic": "rotation"})
    listed = (await collection.list(include_forgotten=True))["results"]
    metadata = {each["id"]: each["metadata"] for each in listed}
    assert metadata[old]["superseded_by"] == new
    assert metadata[new]["supersedes"] == old
    assert {each["topic"] for each in metadata.values()} == {"rotation"}


async def test_null_in_a_patch_brings_a_superseded_memory_back(collection: Collection) -> None:
    old = await collection.store("The key rotates every 30 days")
    new = await collection.store("The key rotates every 90 days", supersedes=old)
    await collection.tools.call(
        "update_memory", memory_id=old, metadata_patch={"superseded_by": None}
    )
    assert set(await found(collection, "key rotation")) == {old, new}


async def test_metadata_may_be_sent_back_as_it_was_read(collection: Collection) -> None:
    old = await collection.store("The key rotates every 30 days")
    await collection.store("The key rotates every 90 days", supersedes=old)
    for each in (await collection.list(include_forgotten=True))["results"]:
        for field in ("metadata", "metadata_patch"):
            changed = {**each["metadata"], "topic": field}
            await collection.tools.call("update_memory", memory_id=each["id"], **{field: changed})
    for each in (await collection.list(include_forgotten=True))["results"]:
        assert each["metadata"].pop("topic") == "metadata_patch"
        assert {"created_at"} < set(each["metadata"])


@pytest.mark.parametrize("field", ["metadata", "metadata_patch"])
async def test_a_memory_cannot_be_said_to_be_superseded(collection: Collection, field: str) -> None:
    id_ = await collection.store("The key rotates every 30 days")
    said = {"superseded_by": "somebody"}
    body = await collection.tools.refused("update_memory", memory_id=id_, **{field: said})
    assert body["details"]["field"] == f"{field}.superseded_by"
    stored = await collection.tools.refused(
        "store", information="hidden", metadata=said, session=collection.session
    )
    assert stored["details"]["field"] == "metadata.superseded_by"
    assert (await collection.list(include_forgotten=True))["total"] == 1


async def test_a_second_successor_is_stored_with_a_warning(collection: Collection) -> None:
    old = await collection.store("The key rotates every 30 days")
    first = await collection.store("The key rotates every 60 days", supersedes=old)
    second = await collection.tools.call(
        "store",
        information="The key rotates every 90 days",
        metadata={"supersedes": old},
        session=collection.session,
    )
    [warning] = second["warnings"]
    assert old in warning
    assert first in warning
    assert set(await found(collection, "key rotation")) == {first, second["id"]}


async def test_a_memory_that_has_expired_already_is_stored_with_a_warning(
    collection: Collection,
) -> None:
    body = await collection.tools.call(
        "store",
        information="The old gate is open",
        metadata={"expires_at": PAST},
        session=collection.session,
    )
    assert ["past" in warning for warning in body["warnings"]] == [True]
    id_ = await collection.store("The gate is open")
    update = await collection.tools.call(
        "update_memory", memory_id=id_, metadata_patch={"expires_at": PAST}
    )
    assert ["past" in warning for warning in update["warnings"]] == [True]
    assert await found(collection, "gate") == []


async def test_an_unknown_id_is_named_with_the_argument_that_gave_it(
    collection: Collection,
) -> None:
    refused = collection.tools.refused
    unknown = "x" * 500
    for field, body in {
        "metadata.supersedes": await refused(
            "store", information="a", metadata={"supersedes": unknown}, session=collection.session
        ),
        "memory_ids": await refused("delete_memory", memory_ids=[unknown]),
        "memory_id": await refused("update_memory", memory_id=unknown, information="a"),
    }.items():
        assert body["error_code"] == "ENTRY_NOT_FOUND"
        assert body["details"]["field"] == field
        assert len(body["error"]) < 200


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_memories", {"topic": "a\0b"}),
        ("list_memories", {"tags": ["a\0b"]}),
        ("find", {"query": "a", "kind": "a\0b"}),
        ("delete_memory", {"memory_ids": "a\0b"}),
        ("update_memory", {"memory_id": "a\0b", "information": "x"}),
        ("store", {"information": "a\0b"}),
    ],
)
async def test_a_nul_is_never_a_failure_of_the_storage(
    collection: Collection, name: str, arguments: dict[str, object]
) -> None:
    """SQLite keeps and compares it, PostgreSQL cannot: then the arguments are wrong."""
    result = await collection.tools.client.call_tool_mcp(name, arguments)
    if result.is_error:
        body = result.structured_content
        assert body is not None
        assert body["error_code"] in ("VALIDATION_ERROR", "ENTRY_NOT_FOUND")
        assert body["details"]["field"] in ("arguments", "information", "memory_id", "memory_ids")
