"""What the record store keeps and is asked for, free of SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from services.core.clock import to_iso


class EntryKind(StrEnum):
    """Whose dialect an entry belongs to."""

    MEMORY = "memory"
    THREAD = "thread"
    MESSAGE = "message"


class ContentType(StrEnum):
    """Follows the presence of images."""

    TEXT = "text"
    MULTIMODAL = "multimodal"


@dataclass(frozen=True)
class Image:
    """An image of an entry, decoded."""

    mime_type: str
    data: bytes
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Draft:
    """An entry that is to be stored; its moments default to now.

    `content_hash` and `content_type` are worked out by the store.
    """

    kind: EntryKind
    collection: str
    text: str
    uuid: str | None = None
    thread: str | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()
    images: Sequence[Image] = ()
    importance: float | None = None
    scope: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True)
class Change:
    """What to change of one entry; what is None stays. Lists replace lists."""

    id: int
    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    metadata_patch: Mapping[str, Any] | None = None  # RFC 7396, recursive
    tags: Sequence[str] | None = None
    images: Sequence[Image] | None = None


@dataclass(frozen=True)
class Entry:
    """A stored entry. Images are read on request only."""

    id: int
    uuid: str
    kind: EntryKind
    collection: str
    thread: str | None
    source: str | None
    content_type: ContentType
    text: str
    metadata: Mapping[str, Any]
    tags: Sequence[str]
    importance: float | None
    scope: str | None
    summary: str
    summary_by: str | None
    content_hash: str
    revision: int
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class MetadataFilter:
    """One condition on metadata; `path` names nested keys from the outside in."""

    path: Sequence[str]
    operator: str
    value: Any = None
    case_sensitive: bool = False


@dataclass(frozen=True)
class Criteria:
    """Which entries are meant: all conditions hold together. `tags` asks for any of them.

    `since` and `until` are inclusive moments of `moment()`.
    """

    kind: EntryKind
    collection: str | None = None
    ids: Sequence[int] | None = None
    threads: Sequence[str] | None = None
    source: str | None = None
    tags: Sequence[str] = ()
    content_type: ContentType | None = None
    since: str | None = None
    until: str | None = None
    metadata: Sequence[MetadataFilter] = ()


class TextMode(StrEnum):
    """How a full-text query is read."""

    MATCH = "match"
    PREFIX = "prefix"
    PHRASE = "phrase"
    BOOLEAN = "boolean"


@dataclass(frozen=True)
class TextHit:
    """An entry that full text found; higher scores are better."""

    entry: Entry
    score: float
    highlighted: str | None = None


@dataclass(frozen=True)
class ThreadSummary:
    """One thread at a glance."""

    thread: str
    entries: int
    sources: Mapping[str, int]  # how many entries each author role has
    multimodal: int
    first_at: str
    last_at: str
    last_id: int


@dataclass(frozen=True)
class Statistics:
    """What the database holds of one kind. `size_bytes` is of all kinds together."""

    entries: int
    by_source: Mapping[str, int]
    by_content_type: Mapping[str, int]
    threads: int
    images: int
    tags: int
    summarised: int
    summarised_by: Mapping[str, int]  # who wrote how many summaries
    size_bytes: int


@dataclass(frozen=True)
class Due:
    """An entry that changed: its points are to be written, or deleted where it is gone."""

    outbox_id: int
    uuid: str
    kind: EntryKind
    collection: str
    entry: Entry | None


def moment(value: datetime) -> str:
    """In UTC and of one length, so that comparing texts compares times. Naive means UTC."""
    return to_iso(value, "microseconds")
