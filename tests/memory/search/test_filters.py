"""Filters as criteria: dates above all."""

import pytest

from ctx_core.errors import InvalidInput
from ctx_memory.records.entry import ContentType, Criteria, EntryKind
from ctx_memory.search.filters import EntryFilters, count_filters


def criteria(**given: object) -> Criteria:
    found, wrong = EntryFilters(**given).criteria(EntryKind.THREAD)  # type: ignore[arg-type]
    assert wrong == []
    return found


@pytest.mark.parametrize(
    ("given", "since", "until"),
    [
        ("2025-11-29", "2025-11-29T00:00:00.000000Z", "2025-11-29T23:59:59.999999Z"),
        ("2025-11-29T10:00:00", "2025-11-29T10:00:00.000000Z", "2025-11-29T10:00:00.000000Z"),
        ("2025-11-29T10:00:00Z", "2025-11-29T10:00:00.000000Z", "2025-11-29T10:00:00.000000Z"),
        ("2025-11-29T10:00:00+02:00", "2025-11-29T08:00:00.000000Z", "2025-11-29T08:00:00.000000Z"),
        ("2025-12-31T23:30:00-01:00", "2026-01-01T00:30:00.000000Z", "2026-01-01T00:30:00.000000Z"),
        (" 2025-11-29T10:00:00.25Z ", "2025-11-29T10:00:00.250000Z", "2025-11-29T10:00:00.250000Z"),
        ("0099-01-01", "0099-01-01T00:00:00.000000Z", "0099-01-01T23:59:59.999999Z"),
    ],
)
def test_dates_are_compared_in_utc(given: str, since: str, until: str) -> None:
    assert criteria(start_date=given).since == since
    assert criteria(end_date=given).until == until


@pytest.mark.parametrize(
    "wrong",
    ["", "today", "2025-02-30", "29.11.2025", "0001-01-01T00:00:00+10:00", "2025-11-29T25:00"],
)
def test_what_is_no_date_is_refused(wrong: str) -> None:
    for field in ("start_date", "end_date"):
        with pytest.raises(InvalidInput, match=rf"{field}: .*ISO 8601"):
            criteria(**{field: wrong})


def test_a_day_may_start_and_end_on_itself_but_not_before_itself() -> None:
    day = criteria(start_date="2025-11-29", end_date="2025-11-29")
    assert day.since is not None
    assert day.until is not None
    assert day.since < day.until
    with pytest.raises(InvalidInput, match="swap"):
        criteria(start_date="2025-11-29T12:00:00+02:00", end_date="2025-11-29T09:59:59Z")


def test_all_filters_become_criteria() -> None:
    found = criteria(
        thread_id="t",
        source="user",
        tags=[" A ", "a", ""],
        content_type="multimodal",
        metadata={"x.y": 1},
        metadata_filters=[{"key": "z", "operator": "exists"}],
        start_date="2025-01-01",
        end_date="2025-01-02",
    )
    assert (found.threads, found.source, found.tags) == (["t"], "user", ["a"])
    assert found.content_type is ContentType.MULTIMODAL
    assert [list(each.path) for each in found.metadata] == [["x", "y"], ["z"]]
    assert count_filters(found) == 8
    assert count_filters(criteria()) == 0


def test_the_kind_comes_from_the_dialect() -> None:
    found, _ = EntryFilters(source="user").criteria(EntryKind.MESSAGE)
    assert found == Criteria(EntryKind.MESSAGE, source="user", tags=[], metadata=[])
