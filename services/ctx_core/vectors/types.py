"""The types of the vector store: collections, points, filters, queries.

Our own, because the embedded engine and the client of the server share none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

Payload: TypeAlias = Mapping[str, Any]
Scalar: TypeAlias = str | int | float | bool


# --- collections ---------------------------------------------------------------------------


class IndexKind(StrEnum):
    """How a payload field is indexed."""

    KEYWORD = "keyword"
    INTEGER = "integer"
    BOOL = "bool"
    DATETIME = "datetime"


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
    indexes: Mapping[str, IndexKind] = field(default_factory=dict)
    model: EmbeddingModel | None = None
    purpose: str = ""  # what its points are, such as "code"; empty in earlier versions
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
class Distribution:
    """How a new collection is spread over the nodes of a Qdrant cluster.

    Without a number of shards the cluster makes one for each node.
    """

    shards: int | None = None
    replicas: int = 1


UNDISTRIBUTED = Distribution()

BROKEN = "red"  # the status of a collection that cannot be loaded


@dataclass(frozen=True)
class CollectionInfo:
    """The state of one collection, as the store reports it.

    `optimizer_status` is None where nothing optimizes: the embedded engine.
    """

    name: str
    spec: CollectionSpec
    points_count: int
    indexed_vectors_count: int
    segments_count: int
    status: str
    optimizer_status: str | None


# --- points --------------------------------------------------------------------------------


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


# --- filters -------------------------------------------------------------------------------


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
class Range:
    """The number is within the bounds; None is no bound."""

    field: str
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None


@dataclass(frozen=True)
class DatetimeRange:
    """The time is within the bounds, which have a time zone; None is no bound."""

    field: str
    gt: datetime | None = None
    gte: datetime | None = None
    lt: datetime | None = None
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


Condition: TypeAlias = Match | MatchAny | Range | DatetimeRange | HasId | HasVector | Filter

# --- queries -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prefetch:
    """One ranking of points: by the similarity of a named vector to a value.

    `limit` is the number of candidates for fusion; without fusion the query's limit counts.
    """

    using: str
    vector: Vector
    limit: int


@dataclass(frozen=True)
class RankFusion:
    """Reciprocal rank fusion: each prefetch adds 1 / (k + rank), ranks from 0; k ≥ 1."""

    k: int


@dataclass(frozen=True)
class Query:
    """Prefetches under one filter, fused by the engine. A single prefetch needs no fusion."""

    prefetch: Sequence[Prefetch]
    limit: int
    fusion: RankFusion | None = None
    filter: Filter | None = None
    offset: int = 0
    with_payload: bool = True  # reading payloads takes longer than finding the points


@dataclass(frozen=True)
class FacetCount:
    """The number of points that have this value of a field."""

    value: Scalar
    count: int
