"""The filters of a search, as a caller gives them, turned into criteria."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from ctx_core.errors import InvalidInput
from ctx_core.text.excerpts import truncate
from ctx_memory.records.entry import ContentType, Criteria, EntryKind, moment
from ctx_memory.records.filters import parse_filters

NUL = "\x00"
SHOWN_DATE = 40  # characters of a wrong date in an error; right ones have at most 32
HOLDS_NUL = "holds a NUL character, which no entry has; remove it"
DATE_FORMATS = "2025-11-29, 2025-11-29T10:00:00, 2025-11-29T10:00:00Z or 2025-11-29T10:00:00+02:00"


@dataclass(frozen=True)
class EntryFilters:
    """The filters that all searches of entries share, not yet validated."""

    thread_id: str | None = None
    source: str | None = None
    tags: Sequence[str] | None = None
    content_type: str | None = None
    metadata: Mapping[str, Any] | None = None
    metadata_filters: Sequence[Any] | None = None
    start_date: str | None = None
    end_date: str | None = None

    def criteria(self, kind: EntryKind) -> tuple[Criteria, list[str]]:
        """Return the criteria, and the validation errors of the metadata filters.

        Where there are errors, nothing must be searched. Raises InvalidInput for other filters.
        """
        since, until = _period(self.start_date, self.end_date)
        metadata, errors = parse_filters(self.metadata, self.metadata_filters)
        threads = None if self.thread_id is None else [check_text("thread_id", self.thread_id)]
        criteria = Criteria(
            kind=kind,
            threads=threads,
            source=self.source,
            tags=_tags(self.tags),
            content_type=None if self.content_type is None else ContentType(self.content_type),
            since=since,
            until=until,
            metadata=metadata,
        )
        return criteria, errors


def count_filters(criteria: Criteria) -> int:
    """Count the conditions of the criteria, besides kind and collection."""
    single = (
        criteria.ids,
        criteria.threads,
        criteria.source,
        criteria.content_type,
        criteria.since,
        criteria.until,
    )
    return sum(value is not None for value in single) + bool(criteria.tags) + len(criteria.metadata)


def normalized_tags(tags: Sequence[str]) -> list[str]:
    """Return tags stripped and in lower case, each once, without blank ones."""
    return [tag for tag in dict.fromkeys(tag.strip().lower() for tag in tags) if tag]


def check_text(field: str, text: str) -> str:
    """Return the text. Raises InvalidInput where no database can search for it."""
    if NUL in text:
        raise InvalidInput(field, HOLDS_NUL)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(field, f"is not Unicode at character {error.start}") from error
    return text


def _tags(tags: Sequence[str] | None) -> list[str]:
    normalized = [check_text("tags", tag) for tag in normalized_tags(tags or ())]
    if tags and not normalized:
        raise InvalidInput("tags", "are all blank; name a tag or leave them out")
    return normalized


def _period(start: str | None, end: str | None) -> tuple[str | None, str | None]:
    since = None if start is None else _moment("start_date", start, time.min)
    until = None if end is None else _moment("end_date", end, time.max)
    if since is not None and until is not None and since > until:
        raise InvalidInput("start_date", f"{start} is after end_date {end}; swap them")
    return since, until


def _moment(field: str, value: str, time_of_day: time) -> str:
    """Parse a time, UTC where it names no zone; a date alone is at `time_of_day`."""
    try:
        return moment(_parse(value.strip(), time_of_day))
    except (ValueError, OverflowError) as error:
        message = f"{truncate(value, SHOWN_DATE)!r} is no ISO 8601 date; write {DATE_FORMATS}"
        raise InvalidInput(field, message) from error


def _parse(value: str, time_of_day: time) -> datetime:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return datetime.fromisoformat(value)
    return datetime.combine(day, time_of_day, UTC)
