"""The metadata of a memory: fields that no change touches, fields that hide it from `find`."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctx_core.clock import to_iso, utc_now
from ctx_core.errors import InvalidInput
from ctx_core.memories.metadata import (
    EXPIRES_AT,
    SUPERSEDED_BY,
    SUPERSEDES,
    Metadata,
    clean_tags,
    folded,
)
from ctx_memory.records.entry import Entry

CREATED_AT = "created_at"
FIXED: Mapping[str, str] = {
    CREATED_AT: "the time of a memory stays as it was stored",
    SUPERSEDES: "is given when a memory is stored; store a new one that supersedes the other",
    SUPERSEDED_BY: "is set when a memory is stored with `supersedes`; null in metadata_patch "
    "brings a superseded one back",
}
EXPIRED = "expires_at is in the past: find does not show this memory"
SUPERSEDED_TWICE = (
    "{} was superseded by {} before, and both of its successors are found: delete the one that is "
    "wrong"
)


def metadata_change(
    entry: Entry, metadata: Metadata | None, patch: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the fields of Change for metadata and tags, validated as `store` validates them."""
    if metadata is not None:
        record = metadata.record(utc_now()) if metadata.created_at else metadata.described()
        _check_fixed(record, entry, "metadata")
        fields = {"metadata": record, "kept_keys": tuple(FIXED)}
        return {**fields, "tags": folded_tags(record.get("tags"))}
    if patch is None:
        return {}
    checked = Metadata.checked(patch)
    record = {**patch, **(checked.record(utc_now()) if checked.created_at else checked.described())}
    _check_fixed(record, entry, "metadata_patch")
    tags = {"tags": folded_tags(record["tags"])} if "tags" in record else {}
    return {"metadata_patch": record, **tags}


def _check_fixed(record: Mapping[str, Any], entry: Entry, field: str) -> None:
    """Raise InvalidInput where a change gives another value for a fixed field."""
    for key, why in FIXED.items():
        given, known = record.get(key), entry.metadata.get(key)
        if given != known and (given is not None or (key == CREATED_AT and key in record)):
            raise InvalidInput(f"{field}.{key}", why)


def refuse_superseded_by(metadata: Metadata) -> None:
    """Raise InvalidInput for a new memory that is said to be superseded: nobody would find it."""
    if (metadata.model_extra or {}).get(SUPERSEDED_BY) is not None:
        raise InvalidInput(f"metadata.{SUPERSEDED_BY}", FIXED[SUPERSEDED_BY])


def hiding(metadata: Mapping[str, Any], former: Entry | None = None) -> list[str]:
    """Return warnings: that a memory is hidden already, that the former had a successor before."""
    expires_at, warnings = metadata.get(EXPIRES_AT), []
    if expires_at is not None and expires_at <= to_iso(utc_now(), "seconds"):
        warnings.append(EXPIRED)
    if former is not None and (successor := former.metadata.get(SUPERSEDED_BY)):
        warnings.append(SUPERSEDED_TWICE.format(former.uuid, successor))
    return warnings


def folded_tags(tags: Sequence[str] | None) -> list[str]:
    """Return tags as filters compare them: stripped, without case, each once."""
    return [folded(tag) for tag in clean_tags(tags or ())]


@contextlib.contextmanager
def text_named(field: str) -> Iterator[None]:
    """Name the text of an entry in an error as the tool calls it."""
    try:
        yield
    except InvalidInput as error:
        if error.details["field"] != "text":
            raise
        raise InvalidInput(field, error.details["message"]) from error
