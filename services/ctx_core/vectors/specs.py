"""The shape and the state of a collection.

Types of our own, because the embedded engine and the client of the server share none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


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
    """The shape and the purpose of a collection, and how it is rebuilt; stored with it.

    Dense vectors compare by cosine, sparse ones by IDF-weighted dot product.
    """

    dense: Mapping[str, int] = field(default_factory=dict)
    sparse: Sequence[str] = ()
    indexes: Mapping[str, IndexKind] = field(default_factory=dict)
    model: EmbeddingModel | None = None
    purpose: str = ""  # the kind of its points, such as "code"; empty in earlier versions
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
