"""The time in UTC, and its one text form: 2024-01-15T10:30:00Z."""

from datetime import UTC, datetime
from typing import Literal

Precision = Literal["auto", "seconds", "microseconds"]


def utc_now() -> datetime:
    """Return the current time, aware of its zone."""
    return datetime.now(UTC)


def to_iso(moment: datetime, precision: Precision = "auto") -> str:
    """Format a time in UTC with a `Z`; a time without zone is taken as UTC.

    Texts of one precision other than "auto" have one length, so comparing them compares times.
    """
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")
