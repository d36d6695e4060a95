"""Entries as values, free of SQL: drafts, changes, stored entries, criteria that select them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from ctx_core.clock import to_iso

MAX_OFFSET = 2**63 - 1  # the largest integer that the databases know


class EntryKind(StrEnum):
    """The dialect of the memory server that an entry belongs to."""

    MEMORY = "memory"
    THREAD = "thread"
    MESSAGE = "message"


class ContentType(StrEnum):
    """Whether an entry has images."""

    TEXT = "text"
    MULTIMODAL = "multimodal"


@dataclass(frozen=True)
class Image:
    """An image of an entry, decoded; its position is its place in the list where it is None."""

    mime_type: str
    data: bytes
    metadata: Mapping[str, Any] | None = None
    position: int | None = None


@dataclass(frozen=True)
class Draft:
    """An entry to store; its times default to now, `uuid` to a new one.

    The store computes `content_hash` and `content_type`.
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
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True)
class Change:
    """A change of one entry: fields that are None stay, lists replace lists."""

    id: int
    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    metadata_patch: Mapping[str, Any] | None = None  # RFC 7396, recursive
    kept_keys: Sequence[str] = ()  # of the old metadata, which `metadata` does not replace
    tags: Sequence[str] | None = None
    images: Sequence[Image] | None = None


class AddedEntry(NamedTuple):
    """The stored entry of a draft; `is_new` is False where it repeats its thread's latest entry."""

    id: int
    uuid: str
    is_new: bool


class ChangedEntry(NamedTuple):
    """An entry and the names of the fields that changed."""

    id: int
    fields: list[str]


@dataclass(frozen=True)
class Entry:
    """A stored entry, without its images, which are read separately."""

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
    summary: str
    summary_by: str | None
    content_hash: str
    revision: int
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class MetadataFilter:
    """One condition on metadata; `path` holds nested keys, the outermost first."""

    path: Sequence[str]
    operator: str
    value: Any = None
    case_sensitive: bool = False


@dataclass(frozen=True)
class Criteria:
    """Conditions that select entries; an entry must meet all of them.

    One of `tags` is enough. `since` and `until` are inclusive times in the form of `moment()`.
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
    current_at: str | None = None  # a time at which it has not expired; nothing supersedes it


def moment(value: datetime) -> str:
    """Format a time in UTC at one length, so that comparing texts compares times."""
    return to_iso(value, "microseconds")


def merged(target: Any, patch: Any) -> Any:
    """Apply a JSON Merge Patch (RFC 7396): `{"a": 1, "b": 2}`, `{"b": null}` → `{"a": 1}`."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
