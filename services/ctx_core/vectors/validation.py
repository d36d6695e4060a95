"""Check requests before an engine sees them, so that both engines refuse the same."""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from ctx_core.errors import InvalidInput
from ctx_core.vectors.points import Sparse, Vector
from ctx_core.vectors.queries import Filter, Query
from ctx_core.vectors.specs import CollectionSpec

# One path component on every system: no separators, no leading dot, no trailing dot (Windows
# drops it), short enough for file systems that allow 255 bytes.
COLLECTION_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,198}[A-Za-z0-9_-])?")

# Most ids are in this form; matching takes a fifth of the time of parsing.
_CANONICAL_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def check_collection_name(name: str) -> None:
    """Raise InvalidInput for a name that cannot be a folder on every system."""
    if not COLLECTION_NAME.fullmatch(name):
        raise InvalidInput(
            "collection",
            f"{name!r} cannot name a collection: use letters, digits, '_', '-' and '.', "
            "at most 200, and no dot at either end",
        )


def canonical_id(value: str) -> str:
    """Return a point's id in its canonical form. Raises InvalidInput for anything but a UUID."""
    if isinstance(value, str) and _CANONICAL_ID.fullmatch(value):
        return value
    try:
        return str(UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise InvalidInput("id", f"{value!r} is not a UUID") from None


def check_positive(field: str, value: int) -> None:
    """Raise InvalidInput for a number below 1."""
    if value < 1:
        raise InvalidInput(field, f"must be at least 1, not {value}")


# --- payloads ------------------------------------------------------------------------------


_JSON_SCALARS = frozenset({str, int, bool, type(None)})


def to_json(value: object) -> Any:
    """Return a payload value as JSON values; datetimes become ISO strings.

    Raises InvalidInput for a value that JSON has no form for, such as NaN.
    """
    if type(value) in _JSON_SCALARS:
        return value
    if type(value) is list and _JSON_SCALARS.issuperset(map(type, value)):
        return value
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput("payload", f"{value} cannot be stored")
        return value
    if isinstance(value, datetime):
        return datetime_text(value)
    if isinstance(value, Mapping):
        return {_key(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    raise InvalidInput("payload", f"{type(value).__name__} cannot be stored")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise InvalidInput("payload", f"the key {key!r} is not a string")
    return key


def datetime_text(value: datetime) -> str:
    """Return a time as an ISO string. Raises InvalidInput for one without a time zone."""
    if value.tzinfo is None:
        raise InvalidInput("datetime", f"{value.isoformat()} has no time zone")
    return value.isoformat()


# --- vectors -------------------------------------------------------------------------------


def check_vector(spec: CollectionSpec, name: str, value: Vector) -> None:
    """Raise InvalidInput for a vector that a collection of this spec cannot store or compare."""
    if name in spec.dense:
        _check_dense(name, value, spec.dense[name])
    elif name in spec.sparse:
        _check_sparse(name, value)
    else:
        known = ", ".join([*spec.dense, *spec.sparse])
        raise InvalidInput("vector", f"{name!r} is unknown here; the collection has: {known}")


def _check_dense(name: str, value: Vector, dims: int) -> None:
    if isinstance(value, Sparse):
        raise InvalidInput("vector", f"{name!r} is dense, the value is sparse")
    if len(value) != dims:
        raise InvalidInput("vector", f"{name!r} has {dims} dims, the value has {len(value)}")
    _check_numbers(name, value)


def _check_sparse(name: str, value: Vector) -> None:
    if not isinstance(value, Sparse):
        raise InvalidInput("vector", f"{name!r} is sparse, the value is dense")
    if len(value.indices) != len(value.values):
        raise InvalidInput(
            "vector", f"{name!r}: {len(value.indices)} indices, {len(value.values)} values"
        )
    if len(set(value.indices)) != len(value.indices):
        raise InvalidInput("vector", f"{name!r} repeats an index")
    _check_numbers(name, value.values)


def _check_numbers(name: str, values: Any) -> None:
    # The sum is finite only if every number is, and takes a tenth of the time of testing each.
    try:
        is_finite = math.isfinite(values.sum() if hasattr(values, "sum") else sum(values))
    except TypeError:
        raise InvalidInput("vector", f"{name!r} holds something that is no number") from None
    if not is_finite:
        raise InvalidInput("vector", f"{name!r} holds a number that is not finite")


# --- requests ------------------------------------------------------------------------------


def check_query(query: Query) -> None:
    """Raise InvalidInput for a query that no collection could answer."""
    check_positive("limit", query.limit)
    if query.offset < 0:
        raise InvalidInput("offset", f"must not be negative, as {query.offset} is")


def check_selective(where: Filter) -> None:
    """Raise InvalidInput for a filter without conditions, which selects every point."""
    if not (where.must or where.should or where.must_not):
        raise InvalidInput("where", "an empty filter selects everything; delete the collection")
