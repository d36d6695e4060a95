"""The points of a collection, as they are written, read and found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

Payload: TypeAlias = Mapping[str, Any]
Scalar: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class Sparse:
    """A sparse vector: term ids and their weights."""

    indices: Sequence[int]
    values: Sequence[float]


Vector: TypeAlias = Sequence[float] | Sparse


@dataclass(frozen=True)
class Point:
    """One row of a collection. `id` is a UUID string.

    Vectors may be numpy arrays. The payload holds JSON values; a datetime must have a time zone
    and is stored as an ISO string.
    """

    id: str
    vectors: Mapping[str, Vector]
    payload: Payload


class Record(NamedTuple):
    """A stored point, with its payload and the vectors that were requested."""

    id: str
    payload: Payload
    vectors: Mapping[str, Vector] = MappingProxyType({})


class Hit(NamedTuple):
    """A point that a query found, with its score."""

    id: str
    score: float
    payload: Payload


@dataclass(frozen=True)
class FacetCount:
    """The number of points that have this value of a field."""

    value: Scalar
    count: int
