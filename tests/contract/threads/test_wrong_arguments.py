"""Wrong arguments of the thread tools: what is refused, and in which words."""

from typing import Any

import pytest

from tests.support.contract import Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delete_context_batch", {"older_than_days": True}),
        ("delete_context_batch", {"context_ids": [True]}),
        ("delete_context", {"context_ids": [True]}),
        ("update_context", {"context_id": True, "text": "x"}),
        ("update_context_batch", {"updates": [{"context_id": True, "text": "x"}]}),
        ("search_context", {"limit": True}),
    ],
)
async def test_true_is_no_number(tools: Tools, name: str, arguments: dict[str, Any]) -> None:
    body = await tools.refused(name, **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert next(iter(arguments)) in body["error"]


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        (
            "store_context",
            {"thread_id": "t", "source": "user", "text": "x", "images": ["x"]},
            "images.0: Input should be an object",
        ),
        ("store_context_batch", {"entries": ["x"]}, "entries.0.entry: Input should be an object"),
        ("update_context_batch", {"updates": [{"context_id": 2**31 - 1, "text": "x"}]},
         "updates.0.context_id: entry 2147483647 not found"),
        ("search_context", {"start_date": "x" * 5000}, "is no ISO 8601 date"),
    ],
)  # fmt: skip
async def test_errors_are_short_and_in_words_of_the_contract(
    tools: Tools, name: str, arguments: dict[str, Any], error: str
) -> None:
    body = await tools.refused(name, **arguments)
    assert error in body["error"]
    assert "Argument" not in body["error"]
    assert len(body["error"]) < 300
