"""What is refused before any engine sees it, so that both engines refuse the same."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.errors import InvalidInput, ModelMismatch
from services.core.vectors.types import (
    CollectionSpec,
    Filter,
    OrderBy,
    Prefetch,
    Query,
    RankFusion,
    Sparse,
)

# One path component on every system: no separators, no leading dot, no trailing dot (Windows
# drops it), short enough for file systems that allow 255 bytes.
COLLECTION_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,198}[A-Za-z0-9_-])?")

# Most ids come so; asking costs a fifth of parsing.
_CANONICAL_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def collection_name(name: str) -> str:
    """The name itself, when it may name a collection."""
    if not COLLECTION_NAME.fullmatch(name):
        raise InvalidInput(
            "collection",
            f"{name!r} cannot name a collection: use letters, digits, '_', '-' and '.', "
            "at most 200, and no dot at either end",
        )
    return name


def point_id(value: str) -> str:
    """The id in its canonical form."""
    if isinstance(value, str) and _CANONICAL_ID.fullmatch(value):
        return value
    try:
        return str(UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise InvalidInput("id", f"{value!r} is not a UUID") from None


def positive(field: str, value: int) -> None:
    if value < 1:
        raise InvalidInput(field, f"must be at least 1, not {value}")


# --- payloads ------------------------------------------------------------------------------


_PLAIN_TYPES = frozenset({str, int, bool, type(None)})


def plain(value: Any) -> Any:
    """A payload value as JSON has it. Datetimes become ISO strings; NaN has no JSON."""
    if type(value) in _PLAIN_TYPES:
        return value
    if type(value) is list and _PLAIN_TYPES.issuperset(map(type, value)):
        return value
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput("payload", f"{value} cannot be stored")
        return value
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    raise InvalidInput("payload", f"{type(value).__name__} cannot be stored")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidInput("payload", f"the key {key!r} is not a string")
    return key


def moment(value: datetime) -> str:
    if value.tzinfo is None:
        raise InvalidInput("datetime", f"{value.isoformat()} has no time zone")
    return value.isoformat()


# --- vectors -------------------------------------------------------------------------------


def vector(spec: CollectionSpec, name: str, value: Any) -> None:
    """Refuse a vector that this collection cannot hold or be asked with."""
    if name in spec.dense:
        _dense(name, value, spec.dense[name])
    elif name in spec.multi:
        _multi(name, value, spec.multi[name])
    elif name in spec.sparse:
        _sparse(name, value)
    else:
        known = ", ".join([*spec.dense, *spec.multi, *spec.sparse])
        raise InvalidInput("vector", f"{name!r} is unknown here; the collection has: {known}")


def _dense(name: str, value: Any, dims: int) -> None:
    if isinstance(value, Sparse):
        raise InvalidInput("vector", f"{name!r} is dense, the value is sparse")
    if len(value) != dims:
        raise InvalidInput("vector", f"{name!r} has {dims} dims, the value has {len(value)}")
    _numbers(name, value)


def _multi(name: str, value: Any, dims: int) -> None:
    if isinstance(value, Sparse):
        raise InvalidInput("vector", f"{name!r} is a multivector, the value is sparse")
    if len(value) == 0:
        raise InvalidInput("vector", f"{name!r} holds no row; leave the vector out instead")
    for row in value:
        if not hasattr(row, "__len__"):
            raise InvalidInput("vector", f"{name!r} is a multivector, the value is a single one")
        _dense(name, row, dims)


def _sparse(name: str, value: Any) -> None:
    if not isinstance(value, Sparse):
        raise InvalidInput("vector", f"{name!r} is sparse, the value is dense")
    if len(value.indices) != len(value.values):
        raise InvalidInput(
            "vector", f"{name!r}: {len(value.indices)} indices, {len(value.values)} values"
        )
    if len(set(value.indices)) != len(value.indices):
        raise InvalidInput("vector", f"{name!r} repeats an index")
    _numbers(name, value.values)


def _numbers(name: str, values: Any) -> None:
    # The sum is not finite as soon as one number is not, and costs a tenth of asking each.
    try:
        finite = math.isfinite(values.sum() if hasattr(values, "sum") else sum(values))
    except TypeError:
        raise InvalidInput("vector", f"{name!r} holds something that is no number") from None
    if not finite:
        raise InvalidInput("vector", f"{name!r} holds a number that is not finite")


# --- requests ------------------------------------------------------------------------------


def query(asked: Query) -> None:
    """Refuse a query that cannot be right, whatever the collection."""
    positive("limit", asked.limit)
    if asked.offset < 0:
        raise InvalidInput("offset", f"must not be negative, as {asked.offset} is")
    if not asked.prefetch:
        raise InvalidInput("prefetch", "a query needs at least one")
    for prefetch in asked.prefetch:
        positive("prefetch.limit", prefetch.limit)
    if len(asked.prefetch) > 1 and asked.fusion is None:
        raise InvalidInput("fusion", f"{len(asked.prefetch)} prefetches need one")
    if isinstance(asked.fusion, RankFusion):
        _rank_fusion(asked.fusion, asked.prefetch)


def _rank_fusion(fusion: RankFusion, prefetch: Sequence[Prefetch]) -> None:
    positive("fusion.k", fusion.k)
    if not fusion.weights:
        return
    if len(fusion.weights) != len(prefetch):
        raise InvalidInput(
            "fusion.weights", f"{len(fusion.weights)} for {len(prefetch)} prefetches"
        )
    if not all(math.isfinite(weight) and weight >= 0 for weight in fusion.weights):
        raise InvalidInput("fusion.weights", "must be finite and not negative")


def scroll(limit: int, order_by: OrderBy | None, offset: str | None) -> None:
    positive("limit", limit)
    if order_by is not None and offset is not None:
        raise InvalidInput("offset", "pages follow ids: not possible together with order_by")


def selective(where: Filter) -> None:
    if not (where.must or where.should or where.must_not):
        raise InvalidInput("where", "an empty filter selects everything; delete the collection")


# --- collections ---------------------------------------------------------------------------


def check_spec(name: str, stored: CollectionSpec, expected: CollectionSpec) -> None:
    """Check that a stored collection can serve the expected spec.

    Raises InvalidInput where it holds something else, ModelMismatch where it must be rebuilt.
    """
    if expected.purpose and stored.purpose and stored.purpose != expected.purpose:
        raise InvalidInput(
            "collection", f"{name!r} holds {stored.purpose}, not {expected.purpose}: name another"
        )
    _check_model(name, stored, expected)
    if expected.purpose and not stored.purpose:
        raise ModelMismatch(
            f"collection {name} does not say that it holds {expected.purpose}: an earlier version "
            f"of ctx, or another program, built it; {_remedy(name, stored, expected)}",
            collection=name,
        )
    _check_vectors(name, stored, expected)


def spec_problem(name: str, stored: CollectionSpec, expected: CollectionSpec) -> str | None:
    """Return why a stored collection cannot serve the expected spec; None where it can."""
    try:
        check_spec(name, stored, expected)
    except (InvalidInput, ModelMismatch) as error:
        return error.message
    return None


def _check_model(name: str, stored: CollectionSpec, expected: CollectionSpec) -> None:
    built, configured = stored.model, expected.model
    if built and configured and built != configured:
        raise ModelMismatch(
            f"collection {name} was built with model {built.name} ({built.dims} dims), the "
            f"configured one is {configured.name} ({configured.dims} dims); "
            f"{_remedy(name, stored, expected)}",
            collection=name,
            built_with=built.name,
            configured=configured.name,
        )


def _check_vectors(name: str, stored: CollectionSpec, expected: CollectionSpec) -> None:
    for vector_name, kind, has, needs in _vectors(stored, expected):
        if has != needs:
            raise ModelMismatch(
                f"collection {name} has {_dims(kind, has)} for the vector {vector_name!r}, and "
                f"{_dims(kind, needs)} are needed; {_remedy(name, stored, expected)}",
                collection=name,
                vector=vector_name,
            )


def has_vectors(stored: CollectionSpec, expected: CollectionSpec) -> bool:
    """Whether a stored collection has every expected vector, of whatever dims."""
    return all(has is not None for _, _, has, _ in _vectors(stored, expected))


def _vectors(
    stored: CollectionSpec, expected: CollectionSpec
) -> list[tuple[str, str, int | None, int]]:
    """Return (vector name, kind, stored dims, expected dims); a sparse vector has 0 dims."""
    return [
        *((n, "dense", stored.dense.get(n), dims) for n, dims in expected.dense.items()),
        *((n, "multivector", stored.multi.get(n), dims) for n, dims in expected.multi.items()),
        *((n, "sparse", 0 if n in stored.sparse else None, 0) for n in expected.sparse),
    ]


def _dims(kind: str, dims: int | None) -> str:
    if dims is None:
        return "nothing"
    return f"{kind} values of {dims} dims" if dims else f"{kind} values"


def _remedy(name: str, stored: CollectionSpec, expected: CollectionSpec) -> str:
    """Name the command that rebuilds the collection while it stays searchable."""
    command = rebuild_command(name, expected) or "the command of its owner"
    setting, built = expected.model_setting, stored.model
    undo = setting and built and built != expected.model
    back = f", or set {setting} back to {built.name}" if undo and built else ""
    return f"rebuild it with: {command}{back}"


def rebuild_command(name: str, spec: CollectionSpec) -> str:
    """Return the shell command that rebuilds a collection; empty where its spec names none."""
    return spec.rebuild_command.replace("{collection}", name)
