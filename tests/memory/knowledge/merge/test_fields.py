"""JSON is merged field by field, NDJSON record by record."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx_memory.knowledge.documents import dump_ndjson, parse_ndjson
from ctx_memory.knowledge.merge.fields import Side, merge_json, merge_ndjson

KEYS = st.sampled_from("abcdef")
OBJECTS = st.recursive(
    st.integers(0, 3) | st.sampled_from(["x", "y"]) | st.booleans() | st.none(),
    lambda inner: st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(KEYS, OBJECTS, max_size=5)
RECORDS = st.dictionaries(st.sampled_from("12345678"), st.integers(0, 2), max_size=8)


def merge(base: Any, ours: Any, theirs: Any, prefer: Side = Side.OURS) -> Any:
    merged = merge_json(json.dumps(base), json.dumps(ours), json.dumps(theirs), prefer)
    return json.loads(merged.text), merged.conflicts


def test_fields_of_both_sides_are_kept_at_every_depth() -> None:
    base = {"a": {"x": 1, "y": 1}, "gone": 1}
    merged, conflicts = merge(base, {"a": {"x": 2, "y": 1}, "gone": 1}, {"a": {"x": 1, "y": 2}})
    assert merged == {"a": {"x": 2, "y": 2}}
    assert conflicts == ()


@pytest.mark.parametrize(("prefer", "value"), [(Side.OURS, 2), (Side.THEIRS, 3)])
def test_one_field_that_both_changed_is_a_conflict(prefer: Side, value: int) -> None:
    merged, conflicts = merge({"a": {"x": 1}}, {"a": {"x": 2}}, {"a": {"x": 3}}, prefer)
    assert merged == {"a": {"x": value}}
    assert conflicts == ("Field 'a.x': both sides modified differently",)


def test_lists_of_words_are_merged_as_sets() -> None:
    merged, conflicts = merge(["a", "b"], ["b", "c"], ["a", "b", "d"])
    assert merged == ["b", "c", "d"]
    assert conflicts == ()


def test_of_two_moments_the_later_one_stands() -> None:
    merged, conflicts = merge({"updated_at": "1"}, {"updated_at": "2"}, {"updated_at": "3"})
    assert (merged, conflicts) == ({"updated_at": "3"}, ())
    merged, conflicts = merge(None, {"created_at": "2"}, {"created_at": "3"})
    assert (merged, conflicts) == ({"created_at": "2"}, ())


@given(DOCUMENTS, DOCUMENTS)
def test_the_side_that_changed_alone_wins(base: Any, changed: Any) -> None:
    assert merge(base, changed, base) == (changed, ())
    assert merge(base, base, changed) == (changed, ())
    assert merge(base, changed, changed) == (changed, ())


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_merging_json_again_changes_nothing(base: Any, ours: Any, theirs: Any) -> None:
    merged, conflicts = merge(base, ours, theirs)
    if not conflicts:
        assert merge(base, merged, theirs) == (merged, ())
        assert merge(base, theirs, ours)[1] == ()


def lines(records: dict[str, int]) -> str:
    return dump_ndjson({"id": key, "v": value} for key, value in records.items())


@given(RECORDS, RECORDS, RECORDS)
def test_records_are_merged_by_id(
    base: dict[str, int], ours: dict[str, int], theirs: dict[str, int]
) -> None:
    merged = merge_ndjson(lines(base), lines(ours), lines(theirs))
    result = {record["id"]: record["v"] for record in parse_ndjson(merged.text)}
    assert len(result) == len(parse_ndjson(merged.text))
    both = {key for key in ours.keys() & theirs.keys() if ours[key] == theirs[key]}
    new = (ours.keys() | theirs.keys()) - base.keys()
    assert both | new <= result.keys()
    for key, value in result.items():
        assert value in (ours.get(key), theirs.get(key))


def test_damaged_lines_are_kept() -> None:
    merged = merge_ndjson("", '{"id": 1}\n{"torn', '{"id": 2}\nplain\n')
    assert merged.text.splitlines() == ['{"id": 2}', "plain", '{"id": 1}', '{"torn']


def test_a_repeated_id_does_not_swallow_a_record() -> None:
    merged = merge_ndjson("", '{"id": 1, "v": 1}\n{"id": 1, "v": 2}\n', "")
    assert len(merged.text.splitlines()) == 2
