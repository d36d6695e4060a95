"""What the vector store speaks of: collections, points, filters, queries.

Our own types, because the embedded engine and the server share none of theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

Payload: TypeAlias = Mapping[str, Any]
Scalar: TypeAlias = str | int | float | bool


class IndexKind(StrEnum):
    """How a payload field is indexed."""

    KEYWORD = "keyword"
    INTEGER = "integer"
    FLOAT = "float"
    BOOL = "bool"
    DATETIME = "datetime"
    TEXT = "text"


@dataclass(frozen=True)
class EmbeddingModel:
    """The embedding model that a collection was built with."""

    name: str
    dims: int


class NamedModel(Protocol):
    """An embedder, or an EmbeddingModel itself."""

    @property
    def name(self) -> str: ...

    @property
    def dims(self) -> int: ...


@dataclass(frozen=True)
class CollectionSpec:
    """The shape of a collection, what it holds, and how it is rebuilt; all of it is stored with it.

    Dense vectors compare by cosine, sparse ones by IDF-weighted dot product.
    """

    dense: Mapping[str, int] = field(default_factory=dict)
    sparse: Sequence[str] = ()
    multi: Mapping[str, int] = field(default_factory=dict)
    indexes: Mapping[str, IndexKind] = field(default_factory=dict)
    model: EmbeddingModel | None = None
    purpose: str = ""  # what its points are, in a word of their owner; empty where nobody said
    rebuild_command: str = ""  # for a shell; {collection} stands for the collection's name
    model_setting: str = ""  # the environment variable that chooses `model`


DENSE = "dense"
BM25 = "bm25"


def hybrid_spec(
    model: NamedModel,
    indexes: Mapping[str, IndexKind],
    *,
    purpose: str,
    rebuild_command: str,
    model_setting: str,
) -> CollectionSpec:
    """Return the spec of a collection with one dense and one BM25 vector per point."""
    return CollectionSpec(
        dense={DENSE: model.dims},
        sparse=(BM25,),
        indexes=indexes,
        model=EmbeddingModel(model.name, model.dims),
        purpose=purpose,
        rebuild_command=rebuild_command,
        model_setting=model_setting,
    )


@dataclass(frozen=True)
class CollectionInfo:
    """What a store reports about one collection."""

    name: str
    spec: CollectionSpec
    points_count: int
    indexed_vectors_count: int
    segments_count: int
    status: str
    optimizer_status: str


@dataclass(frozen=True)
class Sparse:
    """A sparse vector: term ids and their weights."""

    indices: Sequence[int]
    values: Sequence[float]


Vector: TypeAlias = Sequence[float] | Sparse | Sequence[Sequence[float]]


@dataclass(frozen=True)
class Point:
    """One row. `id` is a UUID string.

    Vectors may be numpy arrays. The payload holds JSON values; a datetime must carry its time zone
    and is stored as an ISO string.
    """

    id: str
    vectors: Mapping[str, Vector]
    payload: Payload


class Record(NamedTuple):
    """A stored row as read back, with those of its vectors that were asked for."""

    id: str
    payload: Payload
    vectors: Mapping[str, Vector] = MappingProxyType({})


class Hit(NamedTuple):
    """A row that a query found, with its score."""

    id: str
    score: float
    payload: Payload


# --- filters -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Match:
    """The field (or one element of it) equals the value."""

    field: str
    value: Scalar


@dataclass(frozen=True)
class MatchAny:
    """The field (or one element of it) is among the values."""

    field: str
    values: Sequence[str] | Sequence[int]


@dataclass(frozen=True)
class MatchExcept:
    """The field is present and holds a value that is not among these."""

    field: str
    values: Sequence[str] | Sequence[int]


@dataclass(frozen=True)
class MatchText:
    """The text-indexed field contains all words of the text."""

    field: str
    text: str


@dataclass(frozen=True)
class Range:
    """A numeric range; a bound left out is open."""

    field: str
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None


@dataclass(frozen=True)
class DatetimeRange:
    """A range of moments; the bounds carry a time zone."""

    field: str
    gt: datetime | None = None
    gte: datetime | None = None
    lt: datetime | None = None
    lte: datetime | None = None


@dataclass(frozen=True)
class IsNull:
    """The field is present and null, or a list that holds a null."""

    field: str


@dataclass(frozen=True)
class IsEmpty:
    """The field is missing, null or an empty list. (A list that holds a null is not empty.)"""

    field: str


@dataclass(frozen=True)
class HasId:
    """The point is one of these."""

    ids: Sequence[str]


@dataclass(frozen=True)
class Nested:
    """One element of a list of objects satisfies the whole inner filter."""

    field: str
    filter: "Filter"


@dataclass(frozen=True)
class Filter:
    """All of `must`, at least one of `should` (if any), none of `must_not`."""

    must: Sequence["Condition"] = ()
    should: Sequence["Condition"] = ()
    must_not: Sequence["Condition"] = ()


Condition: TypeAlias = (
    Match
    | MatchAny
    | MatchExcept
    | MatchText
    | Range
    | DatetimeRange
    | IsNull
    | IsEmpty
    | HasId
    | Nested
    | Filter
)

# --- queries -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prefetch:
    """One way to look: a vector name, the value to compare with, how many candidates.

    `limit` counts where legs are fused; a query of one leg without fusion has its own limit.
    """

    using: str
    vector: Vector
    limit: int


@dataclass(frozen=True)
class RankFusion:
    """Reciprocal rank fusion: a leg gives 1 / ((rank + 1) / weight + k - 1), ranks from 0.

    Without weights that is 1 / (k + rank). A leg of weight 0 gives nothing. `k` is at least 1.
    """

    k: int
    weights: Sequence[float] = ()


@dataclass(frozen=True)
class ScoreFusion:
    """Distribution-based score fusion: each leg's scores are normalised, then added."""


Fusion: TypeAlias = RankFusion | ScoreFusion


@dataclass(frozen=True)
class Query:
    """Legs run in the engine under one filter and are fused there. One leg needs no fusion."""

    prefetch: Sequence[Prefetch]
    limit: int
    fusion: Fusion | None = None
    filter: Filter | None = None
    offset: int = 0
    with_payload: bool = True  # reading payloads costs more than finding the points


@dataclass(frozen=True)
class OrderBy:
    """Scroll in the order of an indexed number or datetime field."""

    field: str
    descending: bool = False


@dataclass(frozen=True)
class FacetCount:
    """How many points hold this value of a field."""

    value: Scalar
    count: int
