"""Metadata filters that callers may write, and the errors of wrong ones."""

from typing import Any

import pytest

from ctx_memory.records.entry import MetadataFilter
from ctx_memory.records.filters import MAX_FILTERS, parse_filters
from ctx_memory.records.filters.operators import MAX_LISTED, Operator
from ctx_memory.records.filters.paths import MAX_DEPTH, MAX_KEY_LENGTH, parse_path


def test_a_field_equals_its_value() -> None:
    found, errors = parse_filters({"status": "done", "a.b": 5, "draft": None}, None)
    assert errors == []
    assert found == [
        MetadataFilter(("status",), "eq", "done", True),
        MetadataFilter(("a", "b"), "eq", 5, True),
        MetadataFilter(("draft",), "eq", None, True),
    ]


def test_a_filter_names_its_operator() -> None:
    raw = {"key": "status", "operator": "in", "value": ["a"], "case_sensitive": True}
    assert parse_filters(None, [raw]) == ([MetadataFilter(("status",), "in", ["a"], True)], [])


def test_without_operator_it_is_eq() -> None:
    assert parse_filters(None, [{"key": "a", "value": 1}])[0] == [MetadataFilter(("a",), "eq", 1)]


def test_nothing_is_no_filter() -> None:
    assert parse_filters(None, None) == parse_filters({}, []) == ([], [])


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("status", ("status",)),
        ("a.b.0", ("a", "b", "0")),
        (r"a\.b.c", ("a.b", "c")),
        (r"a\\.b", ("a\\", "b")),
        (r"a\b", (r"a\b",)),
        ('it\'s "odd"; DROP', ('it\'s "odd"; DROP',)),
        ("$[0]", ("$[0]",)),
        (" ", (" ",)),
    ],
)
def test_paths(key: str, path: tuple[str, ...]) -> None:
    assert parse_path(key) == path


@pytest.mark.parametrize(
    "key", ["", ".", "a..b", ".a", "a.", "x" * (MAX_KEY_LENGTH + 1), "a" + ".a" * MAX_DEPTH]
)
def test_wrong_paths(key: str) -> None:
    _, [error] = parse_filters(None, [{"key": key, "value": 1}])
    assert error.startswith(f"metadata_filters[0] (key {key!r}): key ")


WRONG_VALUES: list[tuple[Operator, Any]] = [
    (Operator.EQ, [1]),
    (Operator.EQ, {"a": 1}),
    (Operator.EQ, float("nan")),
    (Operator.NE, float("inf")),
    (Operator.EQ, "nul\x00"),
    (Operator.EQ, "half \ud800"),
    (Operator.GT, "5"),
    (Operator.GTE, True),
    (Operator.LT, None),
    (Operator.LTE, [5]),
    (Operator.IN, "active"),
    (Operator.IN, None),
    (Operator.IN, [1, {}]),
    (Operator.NOT_IN, ["x"] * (MAX_LISTED + 1)),
    (Operator.NOT_IN, [float("nan")]),
    (Operator.CONTAINS, 5),
    (Operator.STARTS_WITH, None),
    (Operator.ENDS_WITH, ["x"]),
    (Operator.EXISTS, False),
    (Operator.NOT_EXISTS, "x"),
    (Operator.IS_NULL, 0),
    (Operator.IS_NOT_NULL, 1),
    (Operator.ARRAY_CONTAINS, ["x"]),
    (Operator.ARRAY_CONTAINS, {}),
]


@pytest.mark.parametrize(("operator", "value"), WRONG_VALUES)
def test_a_wrong_value_is_told_with_what_is_allowed(operator: Operator, value: Any) -> None:
    found, [error] = parse_filters(None, [{"key": "a", "operator": operator.value, "value": value}])
    assert found == []
    assert error.startswith(f"metadata_filters[0] (key 'a'): operator '{operator}' takes ")
    assert ", got " in error


def test_every_error_is_told_with_its_place() -> None:
    found, errors = parse_filters(
        {"tags": ["a"], "ok": 1},
        [
            {"key": "fine", "operator": "exists"},
            "status",
            {"operator": "eq", "value": 1},
            {"key": "p", "operator": "greater", "value": 1},
            {"key": "p", "op": "gt", "operator": "gt", "value": "x", "case_sensitive": 1},
            {"key": "p", "operator": ["gt"]},
        ],
    )
    assert [each.path for each in found] == [("ok",), ("fine",)]
    assert [error.split(":")[0] for error in errors] == [
        "metadata (key 'tags')",
        "metadata_filters[1]",
        "metadata_filters[2] (key None)",
        "metadata_filters[3] (key 'p')",
        "metadata_filters[4] (key 'p')",
        "metadata_filters[4] (key 'p')",
        "metadata_filters[4] (key 'p')",
        "metadata_filters[5] (key 'p')",
    ]
    assert "use array_contains" in errors[0]
    for operator in Operator:
        assert operator.value in errors[3]
    assert "unknown field 'op'" in errors[4]


def test_a_near_miss_is_recognised() -> None:
    _, [error] = parse_filters(None, [{"key": "a", "operator": "start_with", "value": "x"}])
    assert "did you mean starts_with?" in error


@pytest.mark.parametrize(
    ("metadata", "metadata_filters"), [("status=done", None), (None, {"key": "a"}), (None, "a")]
)
def test_another_shape_altogether(metadata: Any, metadata_filters: Any) -> None:
    found, [error] = parse_filters(metadata, metadata_filters)
    assert found == []
    assert "must be" in error


def test_too_many() -> None:
    _, errors = parse_filters(None, [{"key": "a", "value": 1}] * (MAX_FILTERS + 1))
    assert errors == [f"metadata_filters: at most {MAX_FILTERS} filters, got {MAX_FILTERS + 1}"]
