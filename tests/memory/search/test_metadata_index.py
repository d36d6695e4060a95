"""Metadata as hashes: Qdrant must not leave out an entry that SQL would select."""

from typing import Any

import pytest

from ctx_core.vectors.queries import MatchAny
from ctx_memory.records.entry import Criteria, Draft, EntryKind
from ctx_memory.records.filters import parse_filters
from ctx_memory.search.metadata_index import (
    MAX_HASHES,
    OVERFLOW,
    all_expressible,
    equality_conditions,
    metadata_hashes,
)
from ctx_memory.threads.threads import Threads

DOCUMENTS: list[dict[str, Any]] = [
    {},
    {"a": 1},
    {"a": 1.0, "b": {"c": [1, "X", None, {"d": 1}]}},
    {"a": "1", "b": {"c": "É"}},
    {"a": True, "b": {"c": None}},
    {"a": -0.0, "b.c": "x"},
    {"a": 2**53 + 1, "b": {"c": 2**53}},
    {"a": 10**400, "b": [1, 2]},
    {"a": ["x"], "b": {"0": "y"}},
    {"a": None, "b": {"c": False}},
    {"many": list(range(MAX_HASHES + 1)), "a": "deep"},
]
PATHS = ("a", "b.c", r"b\.c", "b", "b.0", "many")
VALUES: tuple[Any, ...] = (
    *(1, 1.0, 0, "1", "x", "X", "é", "É", "y", "deep", True, False, None),
    *(2**53, 2**53 + 1, 10**400, 64),
)


def passes(document: dict[str, Any], filters: Any) -> bool:
    """Whether Qdrant's conditions select an entry with this metadata."""
    hashes = set(metadata_hashes(document))
    conditions = equality_conditions(filters)
    assert all(isinstance(each, MatchAny) for each in conditions)
    return all(hashes & set(each.values) for each in conditions)  # type: ignore[union-attr]


async def test_qdrant_selects_every_entry_that_sql_selects(threads: Threads) -> None:
    records = threads.entries.records
    drafts = [
        Draft(
            EntryKind.THREAD, "threads", f"note {n}", thread=f"t{n}", source="user", metadata=each
        )
        for n, each in enumerate(DOCUMENTS)
    ]
    stored = await records.add(drafts)
    numbers = {id_: n for n, (id_, _, _) in enumerate(stored)}
    selected = 0
    for path in PATHS:
        for value in VALUES:
            for operator in ("eq", "in", "array_contains"):
                given = [value, "other"] if operator == "in" else value
                filters, wrong = parse_filters(
                    None, [{"key": path, "operator": operator, "value": given}]
                )
                assert not wrong
                for entry in await records.select(
                    Criteria(EntryKind.THREAD, metadata=filters), 100
                ):
                    selected += 1
                    assert passes(DOCUMENTS[numbers[entry.id]], filters), (path, value)
    assert selected > 40


@pytest.mark.parametrize(
    ("filter_", "matches"),
    [
        ({"key": "a", "operator": "eq", "value": "open"}, True),
        ({"key": "a", "operator": "eq", "value": "OPEN", "case_sensitive": True}, True),
        ({"key": "a", "operator": "eq", "value": "done"}, False),
        ({"key": "b", "operator": "eq", "value": "open"}, False),
        ({"key": "c", "operator": "array_contains", "value": 2}, True),
        ({"key": "c", "operator": "array_contains", "value": "2"}, False),
        ({"key": "c", "operator": "eq", "value": 2}, False),
        ({"key": "a", "operator": "in", "value": ["done"]}, False),
    ],
)
def test_equality_becomes_a_condition(filter_: dict[str, Any], matches: bool) -> None:
    filters, _ = parse_filters(None, [filter_])
    assert len(equality_conditions(filters)) == 1
    assert all_expressible(filters)
    assert passes({"a": "Open", "c": [1, 2]}, filters) is matches


@pytest.mark.parametrize("operator", ["ne", "not_in", "gt", "exists", "contains", "is_null"])
def test_other_operators_are_left_to_sql(operator: str) -> None:
    value: Any = {"not_in": ["x"], "gt": 1, "contains": "x", "ne": "x"}.get(operator)
    filters, wrong = parse_filters(None, [{"key": "a", "operator": operator, "value": value}])
    assert (equality_conditions(filters), wrong) == ([], [])
    assert not all_expressible(filters)


def test_an_entry_with_too_many_values_has_only_the_overflow_hash() -> None:
    assert metadata_hashes({"a": list(range(MAX_HASHES))})[0] != OVERFLOW
    assert metadata_hashes({"a": list(range(MAX_HASHES + 1))}) == [OVERFLOW]
