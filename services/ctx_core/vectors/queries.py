"""Filters of points, and queries that rank them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from ctx_core.vectors.points import Scalar, Vector


@dataclass(frozen=True)
class Match:
    """The field, or one element of it, equals the value."""

    field: str
    value: Scalar


@dataclass(frozen=True)
class MatchAny:
    """The field, or one element of it, is among the values."""

    field: str
    values: Sequence[str] | Sequence[int]


@dataclass(frozen=True)
class AtLeast:
    """The number is the value or a larger one."""

    field: str
    value: float


@dataclass(frozen=True)
class DatetimeRange:
    """The time is at or between the bounds, which have a time zone; None is no bound."""

    field: str
    gte: datetime | None = None
    lte: datetime | None = None


@dataclass(frozen=True)
class HasId:
    """The point has one of these ids."""

    ids: Sequence[str]


@dataclass(frozen=True)
class HasVector:
    """The point has a vector of this name."""

    name: str


@dataclass(frozen=True)
class Filter:
    """All of `must`, at least one of `should` (if any), none of `must_not`."""

    must: Sequence["Condition"] = ()
    should: Sequence["Condition"] = ()
    must_not: Sequence["Condition"] = ()


Condition: TypeAlias = Match | MatchAny | AtLeast | DatetimeRange | HasId | HasVector | Filter


@dataclass(frozen=True)
class Query:
    """One ranking of points: by the similarity of the vector named `using` to a value."""

    using: str
    vector: Vector
    limit: int
    filter: Filter | None = None
    offset: int = 0
    with_payload: bool = True  # reading payloads takes longer than finding the points
