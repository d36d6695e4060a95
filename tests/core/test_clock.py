"""The time in UTC and its text form."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ctx_core.clock import Precision, to_iso, utc_now


def test_now_is_aware_and_utc() -> None:
    assert utc_now().tzinfo is UTC
    assert abs(utc_now() - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("precision", "text"),
    [
        ("auto", "2024-01-15T10:30:00Z"),
        ("seconds", "2024-01-15T10:30:00Z"),
        ("microseconds", "2024-01-15T10:30:00.000000Z"),
    ],
)
def test_a_time_of_any_zone_is_written_in_utc(precision: Precision, text: str) -> None:
    east = timezone(timedelta(hours=2))
    for moment in (
        datetime(2024, 1, 15, 10, 30, tzinfo=UTC),
        datetime(2024, 1, 15, 12, 30, tzinfo=east),
        datetime(2024, 1, 15, 10, 30),  # without zone: UTC
    ):
        assert to_iso(moment, precision) == text


def test_texts_of_one_precision_compare_as_times_do() -> None:
    start = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
    moments = [start + timedelta(milliseconds=step * 250) for step in range(9)]
    texts = [to_iso(moment, "microseconds") for moment in moments]
    assert texts == sorted(texts)
    assert len({len(text) for text in texts}) == 1
