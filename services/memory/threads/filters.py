"""Which entries a search is about: the contract's filters as criteria, and how many to return."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from services.core.errors import InvalidInput
from services.memory.records.filters import parse_filters
from services.memory.records.types import ContentType, Criteria, EntryKind, moment
from services.memory.threads.requests import clean_tags

MAX_LIMIT = 100
# A ranked search looks at everything before the offset too; past this, filters do better.
MAX_RANKED_OFFSET = 10_000
MAX_QUERY_LENGTH = 5_000  # a question, not a document: full text reads each of its words
NUL = "\x00"
FORMATS = "2025-11-29, 2025-11-29T10:00:00, 2025-11-29T10:00:00Z or 2025-11-29T10:00:00+02:00"


@dataclass(frozen=True)
class Filters:
    """The filters that all searches share, as they came."""

    thread_id: str | None = None
    source: str | None = None
    tags: Sequence[str] | None = None
    content_type: str | None = None
    metadata: Mapping[str, Any] | None = None
    metadata_filters: Sequence[Any] | None = None
    start_date: str | None = None
    end_date: str | None = None

    def criteria(self) -> tuple[Criteria, list[str]]:
        """What to ask of the records, and what is wrong with the metadata filters.

        Where anything is wrong with them, nothing must be searched.
        """
        since, until = _period(self.start_date, self.end_date)
        metadata, wrong = parse_filters(self.metadata, self.metadata_filters)
        criteria = Criteria(
            kind=EntryKind.THREAD,
            threads=None if self.thread_id is None else [well_formed("thread_id", self.thread_id)],
            source=self.source,
            tags=_wanted_tags(self.tags),
            content_type=None if self.content_type is None else ContentType(self.content_type),
            since=since,
            until=until,
            metadata=metadata,
        )
        return criteria, wrong


def conditions(criteria: Criteria) -> int:
    """How many filters the criteria hold."""
    single = (
        criteria.ids,
        criteria.threads,
        criteria.source,
        criteria.content_type,
        criteria.since,
        criteria.until,
    )
    return sum(value is not None for value in single) + bool(criteria.tags) + len(criteria.metadata)


def clamped(limit: int) -> tuple[int, list[str]]:
    """The limit that is used, and a warning where it is not the one asked for."""
    if limit <= MAX_LIMIT:
        return limit, []
    return MAX_LIMIT, [
        f"limit: {limit} is more than {MAX_LIMIT}; {MAX_LIMIT} was used. Page on with offset."
    ]


def asked(query: str, offset: int) -> str:
    """The query of a ranked search."""
    if not query.strip():
        raise InvalidInput("query", "must not be blank: give words or a question")
    if offset > MAX_RANKED_OFFSET:
        raise InvalidInput(
            "offset",
            f"must not exceed {MAX_RANKED_OFFSET} in a ranked search; narrow it with filters, or "
            "page through search_context",
        )
    return well_formed("query", query)


def well_formed(field: str, text: str) -> str:
    """What a database can be asked for."""
    if NUL in text:
        raise InvalidInput(field, "holds a NUL character, which no entry has; remove it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(field, f"is not Unicode at character {error.start}") from error
    return text


def _wanted_tags(tags: Sequence[str] | None) -> list[str]:
    cleaned = [well_formed("tags", tag) for tag in clean_tags(tags or ())]
    if tags and not cleaned:
        raise InvalidInput("tags", "are all blank; name a tag or leave them out")
    return cleaned


def _period(start: str | None, end: str | None) -> tuple[str | None, str | None]:
    since = None if start is None else _moment("start_date", start, time.min)
    until = None if end is None else _moment("end_date", end, time.max)
    if since is not None and until is not None and since > until:
        raise InvalidInput("start_date", f"{start} is after end_date {end}; swap them")
    return since, until


def _moment(field: str, value: str, time_of_day: time) -> str:
    """A date alone means its first or last moment in UTC; a time without zone is UTC."""
    try:
        return moment(_parsed(value.strip(), time_of_day))
    except (ValueError, OverflowError) as error:
        raise InvalidInput(field, f"{value!r} is no ISO 8601 date; write {FORMATS}") from error


def _parsed(value: str, time_of_day: time) -> datetime:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return datetime.fromisoformat(value)
    return datetime.combine(day, time_of_day, UTC)
