"""Filters, dates and wrong arguments of the four searches."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from tests.support.contract import Thread, Tools
from tests.support.thread_samples import ALL, RANKED, RESULT_KEYS, query_of, sample_number

pytestmark = pytest.mark.asyncio(loop_scope="package")


FILTERS: list[tuple[dict[str, Any], set[int]]] = [
    ({}, {0, 1, 2, 3}),
    ({"source": "agent"}, {1, 3}),
    ({"tags": ["QUEUE "]}, {0, 1}),
    ({"tags": ["payments", "incident"]}, {0, 2}),
    ({"tags": ["absent"]}, set()),
    ({"content_type": "multimodal"}, {1}),
    ({"content_type": "text"}, {0, 2, 3}),
    ({"metadata": {"status": "open"}}, {0}),
    ({"metadata": {"status": "OPEN", "priority": 5}}, {2}),
    ({"metadata": {"owner.name": "Ada"}}, {0}),
    ({"metadata": {"owner.name": "ada"}}, set()),
    ({"metadata_filters": [{"key": "status", "operator": "eq", "value": "open"}]}, {0, 2}),
    ({"metadata_filters": [{"key": "priority", "operator": "ne", "value": 9}]}, {1, 2}),
    ({"metadata_filters": [{"key": "priority", "operator": "not_in", "value": [9, 3]}]}, {2}),
    ({"metadata_filters": [{"key": "priority", "operator": "gte", "value": 5}]}, {0, 2}),
    ({"metadata_filters": [{"key": "priority", "operator": "not_exists"}]}, {3}),
    (
        {
            "metadata_filters": [
                {"key": "status", "operator": "eq", "value": "open", "case_sensitive": True}
            ]
        },
        {0},
    ),
    ({"source": "user", "tags": ["queue"], "metadata": {"priority": 9}}, {0}),
    ({"source": "user", "metadata": {"priority": 3}}, set()),
]


@pytest.mark.parametrize("name", ["search_context", "semantic_search_context"])
@pytest.mark.parametrize(("filters", "expected"), FILTERS)
async def test_filters(
    filled: Thread, name: str, filters: dict[str, Any], expected: set[int]
) -> None:
    body = await filled.search(name, **filters, **query_of(name))
    found = {sample_number(hit) for hit in body["results"]}
    assert found == expected


@pytest.mark.parametrize("name", ["fts_search_context", "hybrid_search_context"])
@pytest.mark.parametrize(("filters", "expected"), FILTERS)
async def test_filters_of_word_searches(
    filled: Thread, name: str, filters: dict[str, Any], expected: set[int]
) -> None:
    modes = {"search_modes": ["fts"]} if name == "hybrid_search_context" else {}
    body = await filled.search(name, **modes, **filters, **query_of(name))
    assert {sample_number(hit) for hit in body["results"]} == expected - {3}


@pytest.mark.parametrize("name", ALL)
async def test_an_invalid_metadata_filter_answers_no_rows(filled: Thread, name: str) -> None:
    body = await filled.search(
        name,
        metadata_filters=[
            {"key": "priority", "operator": "almost", "value": 1},
            {"operator": "eq", "value": 1},
        ],
        **query_of(name),
    )
    assert set(body) == (RESULT_KEYS[name] - {"total"}) | {"error", "validation_errors"}
    assert body["error"] == "Metadata filter validation failed"
    assert (body["results"], body["count"]) == ([], 0)
    assert len(body["validation_errors"]) >= 2
    assert any("almost" in error for error in body["validation_errors"])


@pytest.mark.parametrize("name", ALL)
async def test_dates(filled: Thread, name: str) -> None:
    now = datetime.now(UTC)
    today, yesterday = now.date().isoformat(), (now - timedelta(days=1)).date().isoformat()
    east = (now + timedelta(hours=1)).astimezone(timezone(timedelta(hours=5))).isoformat()
    before = (now - timedelta(hours=1)).astimezone(timezone(timedelta(hours=-7))).isoformat()
    for period, some in (
        ({"start_date": today, "end_date": today}, True),
        ({"start_date": yesterday}, True),
        ({"end_date": yesterday}, False),
        ({"end_date": east}, True),
        ({"start_date": east}, False),
        ({"start_date": before}, True),
        ({"end_date": before}, False),
        ({"start_date": now.replace(tzinfo=None).isoformat()}, False),
    ):
        body = await filled.search(name, **period, **query_of(name))
        assert bool(body["count"]) is some, period


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        ({"start_date": "2025-12-01", "end_date": "2025-11-30"}, "start_date", "swap"),
        (
            {"start_date": "2025-11-29T12:00:00+02:00", "end_date": "2025-11-29T09:00:00Z"},
            "start_date",
            "swap",
        ),
        ({"start_date": "yesterday"}, "start_date", "ISO 8601"),
        ({"end_date": "2025-13-40"}, "end_date", "ISO 8601"),
        ({"limit": 0}, "limit", "greater than or equal to 1"),
        ({"offset": -1}, "offset", "greater than or equal to 0"),
        ({"source": "robot"}, "source", "'user' or 'agent'"),
        ({"content_type": "video"}, "content_type", "'text' or 'multimodal'"),
        ({"tags": [" "]}, "tags", "blank"),
    ],
)
async def test_a_wrong_argument_is_refused(
    filled: Thread, name: str, arguments: dict[str, Any], field: str, said: str
) -> None:
    given = {"thread_id": filled.id, **query_of(name), **arguments}
    body = await filled.tools.refused(name, **given)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field
    assert said in body["error"]


@pytest.mark.parametrize("name", RANKED)
async def test_a_blank_query_is_refused(tools: Tools, name: str) -> None:
    body = await tools.refused(name, query="  ")
    assert body["details"]["field"] == "query"
    assert "cannot be empty" in body["error"]
    assert (body["ok"], body["success"]) == (False, False)
    body = await tools.refused(name, query="x", offset=10_001)
    assert body["details"]["field"] == "offset"


async def test_null_is_told_from_missing(thread: Thread) -> None:
    for text, metadata in (("value", {"k": 1}), ("null", {"k": None}), ("missing", {})):
        await thread.store(text, metadata=metadata)
    expected = {
        "exists": {"value"},
        "not_exists": {"null", "missing"},
        "is_null": {"null"},
        "is_not_null": {"value"},
        "ne": {"value"},
        "not_in": {"value"},
    }
    values: dict[str, dict[str, Any]] = {"ne": {"value": 2}, "not_in": {"value": [2]}}
    for operator, texts in expected.items():
        condition = {"key": "k", "operator": operator, **values.get(operator, {})}
        assert set(await thread.texts(metadata_filters=[condition])) == texts, operator


@pytest.mark.parametrize("operator", ["in", "not_in"])
async def test_an_empty_list_is_refused(filled: Thread, operator: str) -> None:
    condition = {"key": "status", "operator": operator, "value": []}
    body = await filled.search(metadata_filters=[condition])
    assert (body["results"], body["count"]) == ([], 0)
    assert body["error"] == "Metadata filter validation failed"
    assert "empty list" in body["validation_errors"][0]
