"""Errors of `store` and `find` name what is wrong and what is right, without words of ours."""

from typing import Any

import pytest

from tests.support.contract import Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        ({"tags": 5}, "tags", "Input should be a valid string or a valid list"),
        ({"tags": ["a", 5]}, "tags.1", "Input should be a valid string"),
        ({"limit": True}, "limit", "Input should be a number, not true or false"),
        ({"priority_min": True}, "priority_min", "Input should be a number, not true or false"),
    ],
)
async def test_a_wrong_type_is_named_without_types_of_ours(
    tools: Tools, arguments: dict[str, Any], field: str, message: str
) -> None:
    body = await tools.refused("find", query="x", **arguments)
    assert body["details"] == {"field": field, "message": message}


@pytest.mark.parametrize(
    ("metadata", "field", "words"),
    [
        ("x", "metadata", "an object"),
        ({"created_at": "yesterday"}, "metadata.created_at", "ISO 8601, such as"),
        ({"priority": True}, "metadata.priority", "not true or false"),
        ({"tags": ["x" * 300]}, "tags", "256"),
    ],
)
async def test_wrong_metadata_is_named_with_what_is_right(
    tools: Tools, metadata: Any, field: str, words: str
) -> None:
    body = await tools.refused("store", information="x", metadata=metadata)
    assert body["details"]["field"] == field
    assert words in body["error"]
