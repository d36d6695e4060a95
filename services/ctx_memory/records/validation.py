"""Refuses drafts and changes that a database could not store unchanged."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from sqlalchemy import Column, String

from ctx_core.errors import InvalidInput
from ctx_memory.records.database import Dialect
from ctx_memory.records.entry import Change, Draft, Image
from ctx_memory.records.tables import entries, images, tags

MAX_DEPTH = 100  # levels of nested metadata; the databases' own limits are stack sizes
NUL = "\x00"


def check_draft(draft: Draft, dialect: Dialect) -> None:
    """Raise InvalidInput for a draft that cannot be stored."""
    for column in (entries.c.thread, entries.c.source, entries.c.collection):
        _check_length(column.name, column, getattr(draft, column.name))
    _check_text("text", draft.text, dialect)
    _check_json("metadata", draft.metadata, dialect)
    _check_tags(draft.tags, dialect)
    _check_images(draft.images, dialect)


def check_change(change: Change, dialect: Dialect) -> None:
    """Raise InvalidInput for a change that cannot be stored."""
    if change.metadata is not None and change.metadata_patch is not None:
        raise InvalidInput("metadata", "give either metadata or metadata_patch, not both")
    _check_text("text", change.text or "", dialect)
    _check_json("metadata", change.metadata, dialect)
    _check_json("metadata_patch", change.metadata_patch, dialect)
    _check_tags(change.tags or (), dialect)
    _check_images(change.images or (), dialect)


def _check_tags(given_tags: Sequence[str], dialect: Dialect) -> None:
    for tag in given_tags:
        _check_length("tags", tags.c.tag, tag)
        _check_text("tags", tag, dialect)


def _check_images(given_images: Sequence[Image], dialect: Dialect) -> None:
    for image in given_images:
        _check_length("images", images.c.mime_type, image.mime_type)
        _check_json("images", image.metadata, dialect)


def _check_length(field: str, column: Column[Any], value: str | None) -> None:
    max_length = column.type.length if isinstance(column.type, String) else None
    if value is not None and max_length is not None and len(value) > max_length:
        raise InvalidInput(field, f"is longer than {max_length} characters")


def _check_text(field: str, value: str, dialect: Dialect) -> None:
    if dialect == "postgresql" and NUL in value:
        raise InvalidInput(field, "holds a NUL character, which PostgreSQL cannot keep: remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            field, f"holds half a character (a lone surrogate) at position {error.start}"
        ) from error


def _check_json(field: str, value: Any, dialect: Dialect, depth: int = 0) -> None:
    """Refuse values that RFC 8259 lacks (NaN, infinity, keys that are no strings), deep nesting."""
    if depth > MAX_DEPTH:
        raise InvalidInput(field, f"is nested deeper than {MAX_DEPTH} levels")
    match value:
        case None | bool() | int():
            return
        case str():
            _check_text(field, value, dialect)
        case float():
            if not isfinite(value):
                raise InvalidInput(field, f"{value} is no number that JSON knows")
        case Mapping():
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise InvalidInput(field, f"the key {key!r} is not a text")
                _check_text(field, key, dialect)
                _check_json(field, inner, dialect, depth + 1)
        case list() | tuple():
            for inner in value:
                _check_json(field, inner, dialect, depth + 1)
        case _:
            raise InvalidInput(field, f"{type(value).__name__} is no JSON value")
