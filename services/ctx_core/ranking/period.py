"""The time that a question names, such as `last week` or `in May 2023`, as a period of days."""

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

MONTHS = tuple(name.lower() for name in calendar.month_name[1:])
SHORT_MONTHS = tuple(name[:3] for name in MONTHS)
WEEKDAYS = tuple(name.lower() for name in calendar.day_name)
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
WEEK = timedelta(days=7)
DAY = timedelta(days=1)
# How far off `two weeks ago` may be: as much as its unit.
UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:{'|'.join(SHORT_MONTHS)})\b\.?)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})"


@dataclass(frozen=True)
class Period:
    """The days from the first to the last; None is no bound."""

    first: date | None
    last: date | None

    @property
    def since(self) -> datetime | None:
        """The beginning of the first day, in UTC."""
        return datetime.combine(self.first, time.min, UTC) if self.first else None

    @property
    def until(self) -> datetime | None:
        """The end of the last day, in UTC."""
        return datetime.combine(self.last, time.max, UTC) if self.last else None

    def days_outside(self, day: date) -> int:
        """Return how many days before or after the period a day is; 0 within it."""
        early = (self.first - day).days if self.first else 0
        late = (day - self.last).days if self.last else 0
        return max(0, early, late)


def named_period(query: str, today: date) -> Period | None:
    """Return the period that a query names first, None where it names none.

    A month or weekday without a year or date is the latest that has begun.
    """
    lowered = query.lower()
    for match, read in _matches(lowered):
        try:
            found = read(match, today)
        except (ValueError, OverflowError):  # the 31st of June, a million years ago
            continue
        return _bounded(found, lowered[: match.start()])
    return None


def _bounded(period: Period, before: str) -> Period:
    """Open the period to one side, where the words before it say so."""
    words = before.split()[-1:]
    if words in (["since"], ["after"]):
        return Period(period.first, None)
    if words in (["before"], ["until"], ["till"]):
        return Period(None, period.last)
    return period


Reader = Callable[[re.Match[str], date], Period]


def _iso(match: re.Match[str], _: date) -> Period:
    day = date.fromisoformat(match[0])
    return Period(day, day)


def _dated(match: re.Match[str], today: date) -> Period:
    """Read a month with a day or year, or one that a preposition marks."""
    month = SHORT_MONTHS.index(match["month"][:3]) + 1
    day = int(match["day"]) if match["day"] else None
    year = int(match["year"]) if match["year"] else today.year
    if not match["year"] and date(year, month, day or 1) > today:
        year -= 1
    if day:
        return Period(date(year, month, day), date(year, month, day))
    return _month(year, month)


def _whole_year(match: re.Match[str], _: date) -> Period:
    year = int(match["year"])
    return Period(date(year, 1, 1), date(year, 12, 31))


def _relative_day(match: re.Match[str], today: date) -> Period:
    day = today - {"today": 0, "yesterday": 1}[match[0]] * DAY
    return Period(day, day)


def _unit(match: re.Match[str], today: date) -> Period:
    """Read `last week`, `this month`, `past year`."""
    back = 0 if match["which"] == "this" else 1
    if match["unit"] == "week":
        monday = today - today.weekday() * DAY - back * WEEK
        return Period(monday, monday + 6 * DAY)
    if match["unit"] == "month":
        months = today.year * 12 + today.month - 1 - back
        return _month(months // 12, months % 12 + 1)
    if match["unit"] == "year":
        return Period(date(today.year - back, 1, 1), date(today.year - back, 12, 31))
    return Period(today - back * DAY, today - back * DAY)


def _weekday(match: re.Match[str], today: date) -> Period:
    back = (today.weekday() - WEEKDAYS.index(match["weekday"])) % 7
    day = today - (back or 7 if match["which"] == "last" else back) * DAY
    return Period(day, day)


def _ago(match: re.Match[str], today: date) -> Period:
    days = UNIT_DAYS[match["unit"]]
    middle = today - _number(match) * days * DAY
    slack = days // 2 * DAY
    return Period(middle - slack, min(today, middle + slack))


def _last_units(match: re.Match[str], today: date) -> Period:
    return Period(today - _number(match) * UNIT_DAYS[match["unit"]] * DAY, today)


def _number(match: re.Match[str]) -> int:
    return NUMBERS.get(match["count"]) or int(match["count"])


def _month(year: int, month: int) -> Period:
    return Period(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))


# The most exact first. A month alone counts after a preposition only: `may` and `march` are verbs.
_FORMS: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b"), _iso),
    (re.compile(rf"\b{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?\b"), _dated),
    (re.compile(rf"\b{_MONTH} {_DAY}\b(?:,? {_YEAR})?"), _dated),
    (re.compile(rf"\b{_MONTH},? (?:of )?{_YEAR}(?P<day>)\b"), _dated),
    (
        re.compile(
            rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=\bsince )|(?<=\buntil )|(?<=\blast )"
            rf"|(?<=\bbefore )|(?<=\bafter )|(?<=\bduring )){_MONTH}(?P<day>)(?P<year>)(?!\w)"
        ),
        _dated,
    ),
    (re.compile(rf"\b{_COUNT} {_UNIT} ago\b"), _ago),
    (re.compile(rf"\b(?:last|past) {_COUNT} {_UNIT}\b"), _last_units),
    (re.compile(rf"\b(?P<which>last|this|past|previous) {_UNIT}\b"), _unit),
    (re.compile(r"\b(?:yesterday|today)\b"), _relative_day),
    (re.compile(rf"\b(?P<which>last|on|this) (?P<weekday>{'|'.join(WEEKDAYS)})\b"), _weekday),
    (
        re.compile(
            rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bsince )|(?<=\bduring )|(?<=\bbefore )|(?<=\bafter ))"
            rf"{_YEAR}\b"
        ),
        _whole_year,
    ),
)


def _matches(query: str) -> Iterator[tuple[re.Match[str], Reader]]:
    for pattern, read in _FORMS:
        for match in pattern.finditer(query):
            yield match, read
