"""Convert between our types and those of the Qdrant server's client."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from qdrant_client import models

from ctx_core.vectors import validation
from ctx_core.vectors.points import FacetCount, Hit, Payload, Point, Record, Sparse, Vector
from ctx_core.vectors.queries import (
    AtLeast,
    Condition,
    DatetimeRange,
    Filter,
    HasId,
    HasVector,
    Match,
    MatchAny,
    Query,
)
from ctx_core.vectors.specs import CollectionInfo, CollectionSpec, EmbeddingModel, IndexKind

# Keys of a collection's metadata, which servers keep since 1.16: the model that built it, and the
# fields of its spec that are texts.
MODEL_KEY = "ctx_model"
SPEC_KEY = "ctx_spec"


# --- collections ---------------------------------------------------------------------------


def vectors(spec: CollectionSpec) -> dict[str, models.VectorParams]:
    cosine = models.Distance.COSINE
    return {n: models.VectorParams(size=d, distance=cosine) for n, d in spec.dense.items()}


def sparse_vectors(spec: CollectionSpec) -> dict[str, models.SparseVectorParams]:
    return {n: models.SparseVectorParams(modifier=models.Modifier.IDF) for n in spec.sparse}


def metadata(spec: CollectionSpec) -> dict[str, object]:
    """Return the part of a spec that Qdrant keeps without understanding it."""
    texts = {
        "purpose": spec.purpose,
        "rebuild_command": spec.rebuild_command,
        "model_setting": spec.model_setting,
    }
    model = {MODEL_KEY: asdict(spec.model)} if spec.model else {}
    return {**model, SPEC_KEY: texts}


def index(kind: IndexKind) -> models.PayloadSchemaType:
    return models.PayloadSchemaType(kind.value)


def info(name: str, response: models.CollectionInfo, points_count: int) -> CollectionInfo:
    return CollectionInfo(
        name=name,
        spec=_spec(response),
        points_count=points_count,
        indexed_vectors_count=response.indexed_vectors_count or 0,
        segments_count=response.segments_count,
        status=response.status.value,
        optimizer_status=_optimizer(response.optimizer_status),
    )


def _spec(response: models.CollectionInfo) -> CollectionSpec:
    # A collection of another program may have one vector without a name; the engine calls it "".
    params = response.config.params
    named = params.vectors if isinstance(params.vectors, Mapping) else {"": params.vectors}
    return CollectionSpec(
        dense={name: vector.size for name, vector in named.items() if vector is not None},
        sparse=tuple(params.sparse_vectors or ()),
        indexes=_indexes(response.payload_schema),
        model=_model(response.config.metadata),
        **_texts(response.config.metadata),
    )


def _indexes(schema: Mapping[str, models.PayloadIndexInfo]) -> dict[str, IndexKind]:
    known = {kind.value for kind in IndexKind}
    return {
        field: IndexKind(each.data_type.value)
        for field, each in schema.items()
        if each.data_type.value in known
    }


def _model(metadata: Payload | None) -> EmbeddingModel | None:
    match (metadata or {}).get(MODEL_KEY):
        case {"name": str(name), "dims": int(dims)}:
            return EmbeddingModel(name=name, dims=dims)
        case _:
            return None


def _texts(metadata: Payload | None) -> dict[str, str]:
    """Return the texts of a spec; none of a collection of an earlier version or another program."""
    match (metadata or {}).get(SPEC_KEY):
        case {"purpose": str(purpose), "rebuild_command": str(command), "model_setting": str(name)}:
            return {"purpose": purpose, "rebuild_command": command, "model_setting": name}
        case _:
            return {}


def _optimizer(status: models.OptimizersStatus) -> str:
    error = getattr(status, "error", None)
    return f"error: {error}" if error else "ok"


# --- points --------------------------------------------------------------------------------


def point(each: Point) -> models.PointStruct:
    # Built without the client's validation, which takes 1 ms a point: the server validates.
    return models.PointStruct.model_construct(
        id=validation.canonical_id(each.id),
        vector={name: _vector(value) for name, value in each.vectors.items()},
        payload=validation.to_json(each.payload),
    )


def number_count(point: Point) -> int:
    """Return how many numbers the vectors of a point hold."""
    return sum(
        2 * len(value.values) if isinstance(value, Sparse) else len(value)
        for value in point.vectors.values()
    )


def _vector(value: Vector) -> models.SparseVector | list[float]:
    if isinstance(value, Sparse):
        return models.SparseVector.model_construct(
            indices=[int(index) for index in value.indices],
            values=[float(weight) for weight in value.values],
        )
    if hasattr(value, "tolist"):
        numbers: list[float] = value.tolist()
        return numbers
    return [float(number) for number in value]


# --- filters -------------------------------------------------------------------------------


def filters(where: Filter | None) -> models.Filter | None:
    return None if where is None else required_filter(where)


def required_filter(where: Filter) -> models.Filter:
    return models.Filter(
        must=[_condition(each) for each in where.must] or None,
        should=[_condition(each) for each in where.should] or None,
        must_not=[_condition(each) for each in where.must_not] or None,
    )


def names_ids(where: Filter) -> bool:
    """Whether a filter, or one inside it, selects points by their ids."""
    return any(
        isinstance(each, HasId) or (isinstance(each, Filter) and names_ids(each))
        for each in (*where.must, *where.should, *where.must_not)
    )


def _condition(condition: Condition) -> models.Condition:
    match condition:
        case Filter():
            return required_filter(condition)
        case HasVector(name):
            return models.HasVectorCondition(has_vector=name)
        case HasId(ids):
            return models.HasIdCondition(has_id=[validation.canonical_id(each) for each in ids])
        case _:
            return _field(condition)


def _field(condition: Match | MatchAny | AtLeast | DatetimeRange) -> models.FieldCondition:
    match condition:
        case Match(field, float(value)):
            return models.FieldCondition(key=field, range=models.Range(gte=value, lte=value))
        case AtLeast(field, value):
            return models.FieldCondition(key=field, range=models.Range(gte=value))
        case DatetimeRange(field):
            return models.FieldCondition(key=field, range=_datetimes(condition))
        case MatchAny(field, values):
            return models.FieldCondition(key=field, match=models.MatchAny(any=_list(values)))
        case Match(field, value):
            return models.FieldCondition(key=field, match=models.MatchValue(value=value))


def _list(values: Sequence[str] | Sequence[int]) -> list[str] | list[int]:
    return list(values)  # type: ignore[return-value]


def _datetimes(condition: DatetimeRange) -> models.DatetimeRange:
    for bound in (condition.gte, condition.lte):
        if bound is not None:
            validation.datetime_text(bound)
    return models.DatetimeRange(gte=condition.gte, lte=condition.lte)


# --- requests ------------------------------------------------------------------------------


def query(query: Query) -> models.QueryRequest:
    """Return the request of a query."""
    return models.QueryRequest(
        query=_vector(query.vector),
        using=query.using,
        filter=filters(query.filter),
        limit=query.limit,
        offset=query.offset,
        with_payload=query.with_payload,
    )


# --- results -------------------------------------------------------------------------------


def record(stored: models.Record) -> Record:
    by_name = stored.vector if isinstance(stored.vector, Mapping) else {}
    vectors = {name: _stored_vector(value) for name, value in by_name.items()}
    return Record(id=str(stored.id), payload=stored.payload or {}, vectors=vectors)


def _stored_vector(value: Any) -> Vector:
    if isinstance(value, models.SparseVector):
        return Sparse(value.indices, value.values)
    return list(value)


def hit(point: models.ScoredPoint) -> Hit:
    return Hit(id=str(point.id), score=point.score, payload=point.payload or {})


def facets(response: models.FacetResponse) -> list[FacetCount]:
    # A value whose last point was deleted may still be listed, with a count of 0.
    return [FacetCount(value=each.value, count=each.count) for each in response.hits if each.count]
