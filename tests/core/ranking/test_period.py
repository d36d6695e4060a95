"""The time that questions name."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx_core.ranking.period import Period, named_period

TODAY = date(2026, 11, 18)  # a Wednesday


def days(first: str | None, last: str | None) -> Period:
    return Period(
        date.fromisoformat(first) if first else None, date.fromisoformat(last) if last else None
    )


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What did Anna do in May 2023?", "2023-05-01", "2023-05-31"),
        ("what happened in may", "2026-05-01", "2026-05-31"),
        ("the plan of December", "2025-12-01", "2025-12-31"),
        ("on 7 May 2023", "2023-05-07", "2023-05-07"),
        ("on the 7th of May, 2023", "2023-05-07", "2023-05-07"),
        ("decided on May 7, 2023", "2023-05-07", "2023-05-07"),
        ("Feb 2, 2024", "2024-02-02", "2024-02-02"),
        ("since 2023-05-07", "2023-05-07", None),
        ("the notes of 2022", "2022-01-01", "2022-12-31"),
        ("what broke last week?", "2026-11-09", "2026-11-15"),
        ("what did we do this week", "2026-11-16", "2026-11-22"),
        ("decisions of last month", "2026-10-01", "2026-10-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("yesterday's deploy", "2026-11-17", "2026-11-17"),
        ("today", "2026-11-18", "2026-11-18"),
        ("last Monday", "2026-11-16", "2026-11-16"),
        ("on Wednesday", "2026-11-18", "2026-11-18"),
        ("last Wednesday", "2026-11-11", "2026-11-11"),
        ("two weeks ago", "2026-11-01", "2026-11-07"),
        ("3 days ago", "2026-11-15", "2026-11-15"),
        ("in the last 10 days", "2026-11-08", "2026-11-18"),
        ("before June 2024", None, "2024-06-30"),
        ("after 2 June 2024", "2024-06-02", None),
        ("on 31 June 2023", "2023-06-01", "2023-06-30"),
    ],
)
def test_a_named_time(query: str, first: str | None, last: str | None) -> None:
    assert named_period(query, TODAY) == days(first, last)


@pytest.mark.parametrize(
    "query",
    [
        "What may Anna do?",
        "they march on",
        "port 2023",
        "the last question",
        "2023-13-40",
        "",
    ],
)
def test_no_time(query: str) -> None:
    assert named_period(query, TODAY) is None


@pytest.mark.parametrize(
    ("day", "distance"),
    [("2023-05-01", 0), ("2023-05-31", 0), ("2023-04-30", 1), ("2023-06-10", 10)],
)
def test_days_outside(day: str, distance: int) -> None:
    assert days("2023-05-01", "2023-05-31").days_outside(date.fromisoformat(day)) == distance
    assert Period(None, None).days_outside(TODAY) == 0


@given(st.text(max_size=60), st.dates())
def test_any_text_on_any_day(query: str, today: date) -> None:
    period = named_period(query, today)
    assert period is None or period.days_outside(today) >= 0
