"""Parses metadata filters, and turns criteria into SQL conditions.

Metadata is compared by type: a number equals numbers only, a string strings, a boolean booleans.
Numbers compare by the value written in JSON, strings without case unless `case_sensitive`; those of
the simple form `metadata` compare exactly.
A filter that does not fit a value's type (gt on a string, contains on a list) does not match it.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, and_, not_, or_, select, true

from ctx_memory.records.entry import Criteria, MetadataFilter
from ctx_memory.records.filters import postgresql, sqlite
from ctx_memory.records.filters.operators import OPPOSITES, Operator, is_text, wrong_value
from ctx_memory.records.filters.paths import Path, parse_path
from ctx_memory.records.filters.sqlite import register_functions
from ctx_memory.records.tables import entries, tags

__all__ = ["parse_filters", "register_functions", "where"]

MAX_FILTERS = 50  # of one search: each is tested on every entry
FIELDS = ("key", "operator", "value", "case_sensitive")
Condition = ColumnElement[bool]


# --- parsing -------------------------------------------------------------------------------


def parse_filters(
    metadata: Mapping[str, Any] | None, metadata_filters: Sequence[Any] | None
) -> tuple[list[MetadataFilter], list[str]]:
    """Parse both forms of filters; return them and every validation error.

    Where there are errors, a search must return those and no entries.
    """
    errors: list[str] = []
    filters = [*_equalities(metadata, errors), *_conditions(metadata_filters, errors)]
    if len(filters) > MAX_FILTERS:
        errors.append(f"metadata_filters: at most {MAX_FILTERS} filters, got {len(filters)}")
    return filters, errors


def _equalities(metadata: Any, errors: list[str]) -> Iterator[MetadataFilter]:
    """Parse `metadata`: every field must equal its value."""
    if metadata is None:
        return
    if not isinstance(metadata, Mapping):
        errors.append("metadata: must be an object of fields, such as {'status': 'done'}")
        return
    for key, value in metadata.items():
        raw = {"key": key, "value": value, "case_sensitive": True}
        yield from _parse(raw, f"metadata (key {key!r})", errors)


def _conditions(given: Any, errors: list[str]) -> Iterator[MetadataFilter]:
    """Parse `metadata_filters`: a list of key, operator and value."""
    if given is None:
        return
    if not isinstance(given, list | tuple):
        errors.append("metadata_filters: must be a list of {key, operator, value} objects")
        return
    for number, raw in enumerate(given):
        label = f"metadata_filters[{number}]"
        if isinstance(raw, Mapping):
            yield from _parse(raw, f"{label} (key {raw.get('key')!r})", errors)
        else:
            errors.append(f"{label}: must be an object with key, operator and value")


def _parse(raw: Mapping[str, Any], label: str, errors: list[str]) -> Iterator[MetadataFilter]:
    """Yield the filter, or add its faults to `errors`."""
    wrong = [
        f"unknown field {name!r}; allowed: {', '.join(FIELDS)}" for name in raw.keys() - FIELDS
    ]
    try:
        path = _path(raw.get("key"))
    except ValueError as error:
        wrong.append(f"key {error}")
    try:
        operator = Operator(raw.get("operator", Operator.EQ))
        wrong += filter(None, [wrong_value(operator, raw.get("value"))])
    except ValueError:
        wrong.append(_unknown_operator(raw["operator"]))
    if not isinstance(raw.get("case_sensitive", False), bool):
        wrong.append("case_sensitive must be true or false")
    if wrong:
        errors += [f"{label}: {each}" for each in wrong]
        return
    yield MetadataFilter(path, operator, raw.get("value"), raw.get("case_sensitive", False))


def _path(key: Any) -> Path:
    if not is_text(key):
        raise ValueError("must be the name of a metadata field, such as status or references.task")
    return parse_path(key)


def _unknown_operator(given: Any) -> str:
    close = difflib.get_close_matches(str(given), list(Operator), n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"unknown operator {given!r}; {hint}allowed: {', '.join(Operator)}"


# --- SQL conditions ------------------------------------------------------------------------


def where(criteria: Criteria, dialect: str) -> Condition:
    """Return the SQL condition that an entry meets all criteria."""
    conditions = [entries.c.kind == criteria.kind.value]
    if criteria.collection is not None:
        conditions.append(entries.c.collection == criteria.collection)
    if criteria.ids is not None:
        conditions.append(_one_of(entries.c.id, criteria.ids))
    if criteria.threads is not None:
        conditions.append(_one_of(entries.c.thread, criteria.threads))
    if criteria.source is not None:
        conditions.append(entries.c.source == criteria.source)
    if criteria.tags:
        tagged = select(tags.c.entry_id).where(_one_of(tags.c.tag, criteria.tags))
        conditions.append(entries.c.id.in_(tagged))
    if criteria.content_type is not None:
        conditions.append(entries.c.content_type == criteria.content_type.value)
    if criteria.since is not None:
        conditions.append(entries.c.created_at >= criteria.since)
    if criteria.until is not None:
        conditions.append(entries.c.created_at <= criteria.until)
    if criteria.current_at is not None:
        conditions.append(_is_current(criteria.current_at))
    return and_(*conditions, *(_metadata(each, dialect) for each in criteria.metadata))


def _is_current(now: str) -> Condition:
    """Whether an entry has not expired at a time, and no other took its place."""
    expires_at = entries.c.metadata["expires_at"].as_string()
    is_superseded = entries.c.metadata["superseded_by"].as_string().is_not(None)
    return and_(not_(is_superseded), or_(expires_at.is_(None), expires_at > now))


def _metadata(given: MetadataFilter, dialect: str) -> Condition:
    """Return the condition of a metadata filter; `ne` and `not_in` also need a value to exist."""
    condition = sqlite.condition if dialect == "sqlite" else postgresql.condition
    opposite = OPPOSITES.get(Operator(given.operator))
    if opposite is None:
        return condition(given)
    negated = condition(replace(given, operator=opposite)).is_not(true())
    if opposite is Operator.EXISTS:
        return negated
    return and_(negated, condition(replace(given, operator=Operator.EXISTS)))


def _one_of(column: ColumnElement[Any], values: Sequence[Any]) -> Condition:
    """Whether the column has one of the values; false for no values."""
    return column == values[0] if len(values) == 1 else column.in_(values)
