"""What a database could not keep as it is given, refused before it is tried."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from sqlalchemy import Column, String

from services.core.errors import InvalidInput
from services.memory.records.database import Dialect
from services.memory.records.tables import entries, images, tags
from services.memory.records.types import Change, Draft, Image

DEEPEST = 100  # levels of nested metadata; the databases' own limits are stack sizes
NUL = "\x00"


def check_draft(draft: Draft, dialect: Dialect) -> None:
    for column in (entries.c.thread, entries.c.source, entries.c.collection, entries.c.scope):
        _short(column, getattr(draft, column.name))
    _text("text", draft.text, dialect)
    _json("metadata", draft.metadata, dialect)
    _tags(draft.tags, dialect)
    _images(draft.images, dialect)


def check_change(change: Change, dialect: Dialect) -> None:
    if change.metadata is not None and change.metadata_patch is not None:
        raise InvalidInput("metadata", "give either metadata or metadata_patch, not both")
    _text("text", change.text or "", dialect)
    _json("metadata", change.metadata, dialect)
    _json("metadata_patch", change.metadata_patch, dialect)
    _tags(change.tags or (), dialect)
    _images(change.images or (), dialect)


def _tags(given: Sequence[str], dialect: Dialect) -> None:
    for tag in given:
        _short(tags.c.tag, tag)
        _text("tags", tag, dialect)


def _images(given: Sequence[Image], dialect: Dialect) -> None:
    for image in given:
        _short(images.c.mime_type, image.mime_type)
        _json("images", image.metadata, dialect)


def _short(column: Column[Any], value: str | None) -> None:
    longest = column.type.length if isinstance(column.type, String) else None
    if value is not None and longest is not None and len(value) > longest:
        raise InvalidInput(column.name, f"is longer than {longest} characters")


def _text(field: str, value: str, dialect: Dialect) -> None:
    if dialect == "postgresql" and NUL in value:
        raise InvalidInput(field, "holds a NUL character, which PostgreSQL cannot keep: remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            field, f"holds half a character (a lone surrogate) at position {error.start}"
        ) from error


def _json(field: str, value: Any, dialect: Dialect, depth: int = 0) -> None:
    """JSON as RFC 8259 has it: no NaN, no infinity, text keys, not nested without end."""
    if depth > DEEPEST:
        raise InvalidInput(field, f"is nested deeper than {DEEPEST} levels")
    match value:
        case None | bool() | int():
            return
        case str():
            _text(field, value, dialect)
        case float():
            if not isfinite(value):
                raise InvalidInput(field, f"{value} is no number that JSON knows")
        case Mapping():
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise InvalidInput(field, f"the key {key!r} is not a text")
                _text(field, key, dialect)
                _json(field, inner, dialect, depth + 1)
        case list() | tuple():
            for inner in value:
                _json(field, inner, dialect, depth + 1)
        case _:
            raise InvalidInput(field, f"{type(value).__name__} is no JSON value")
