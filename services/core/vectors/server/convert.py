"""Our types in the words of the Qdrant server's client, and its answers in ours."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from qdrant_client import models

from services.core.vectors import validation
from services.core.vectors.types import (
    CollectionInfo,
    CollectionSpec,
    Condition,
    DatetimeRange,
    EmbeddingModel,
    FacetCount,
    Filter,
    Fusion,
    HasId,
    Hit,
    IndexKind,
    IsEmpty,
    IsNull,
    Match,
    MatchAny,
    MatchExcept,
    MatchText,
    Nested,
    OrderBy,
    Point,
    Prefetch,
    Query,
    Range,
    RankFusion,
    Record,
    Sparse,
    Vector,
)

# Keys of a collection's metadata, which servers keep since 1.16: the model that built it, and the
# fields of its spec that are texts.
MODEL_KEY = "ctx_model"
SPEC_KEY = "ctx_spec"


# --- collections ---------------------------------------------------------------------------


def vectors(spec: CollectionSpec) -> dict[str, models.VectorParams]:
    cosine = models.Distance.COSINE
    maxsim = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    dense = {n: models.VectorParams(size=d, distance=cosine) for n, d in spec.dense.items()}
    multi = {
        n: models.VectorParams(size=d, distance=cosine, multivector_config=maxsim)
        for n, d in spec.multi.items()
    }
    return dense | multi


def sparse_vectors(spec: CollectionSpec) -> dict[str, models.SparseVectorParams]:
    return {n: models.SparseVectorParams(modifier=models.Modifier.IDF) for n in spec.sparse}


def metadata(spec: CollectionSpec) -> dict[str, Any]:
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


def info(name: str, found: models.CollectionInfo, points: int) -> CollectionInfo:
    return CollectionInfo(
        name=name,
        spec=_spec(found),
        points_count=points,
        indexed_vectors_count=found.indexed_vectors_count or 0,
        segments_count=found.segments_count,
        status=found.status.value,
        optimizer_status=_optimizer(found.optimizer_status),
    )


def _spec(found: models.CollectionInfo) -> CollectionSpec:
    # A collection made by others may have one nameless vector; the engine calls it "".
    params = found.config.params
    named = params.vectors if isinstance(params.vectors, Mapping) else {"": params.vectors}
    dense = {n: v for n, v in named.items() if v is not None}
    return CollectionSpec(
        dense={n: v.size for n, v in dense.items() if v.multivector_config is None},
        sparse=tuple(params.sparse_vectors or ()),
        multi={n: v.size for n, v in dense.items() if v.multivector_config is not None},
        indexes=_indexes(found.payload_schema),
        model=_model(found.config.metadata),
        **_texts(found.config.metadata),
    )


def _indexes(schema: Mapping[str, models.PayloadIndexInfo]) -> dict[str, IndexKind]:
    known = {kind.value for kind in IndexKind}
    return {
        field: IndexKind(each.data_type.value)
        for field, each in schema.items()
        if each.data_type.value in known
    }


def _model(stored: Mapping[str, Any] | None) -> EmbeddingModel | None:
    match (stored or {}).get(MODEL_KEY):
        case {"name": str(name), "dims": int(dims)}:
            return EmbeddingModel(name=name, dims=dims)
        case _:
            return None


def _texts(stored: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the texts of a spec; none of a collection of an earlier version or another program."""
    match (stored or {}).get(SPEC_KEY):
        case {"purpose": str(purpose), "rebuild_command": str(command), "model_setting": str(name)}:
            return {"purpose": purpose, "rebuild_command": command, "model_setting": name}
        case _:
            return {}


def _optimizer(status: models.OptimizersStatus) -> str:
    error = getattr(status, "error", None)
    return f"error: {error}" if error else "ok"


# --- points --------------------------------------------------------------------------------


def point(each: Point) -> models.PointStruct:
    # Built without the client's validation, which costs 1 ms a point: the server validates.
    return models.PointStruct.model_construct(
        id=validation.point_id(each.id),
        vector={name: _vector(value) for name, value in each.vectors.items()},
        payload=validation.plain(each.payload),
    )


def size(each: Point) -> int:
    """How many numbers the point's vectors hold."""
    return sum(_numbers(value) for value in each.vectors.values())


def _numbers(value: Vector) -> int:
    if isinstance(value, Sparse):
        return 2 * len(value.values)
    rows = [len(row) for row in value if hasattr(row, "__len__")]
    return sum(rows) if rows else len(value)


def _vector(value: Vector) -> Any:
    if isinstance(value, Sparse):
        return models.SparseVector.model_construct(
            indices=[int(index) for index in value.indices],
            values=[float(weight) for weight in value.values],
        )
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_row(row) for row in value]


def _row(row: Any) -> Any:
    if hasattr(row, "tolist"):
        return row.tolist()
    return [float(number) for number in row] if hasattr(row, "__len__") else float(row)


# --- filters -------------------------------------------------------------------------------


def filters(where: Filter | None) -> models.Filter | None:
    return None if where is None else selection(where)


def selection(where: Filter) -> models.Filter:
    return models.Filter(
        must=[_condition(each) for each in where.must] or None,
        should=[_condition(each) for each in where.should] or None,
        must_not=[_condition(each) for each in where.must_not] or None,
    )


def _condition(condition: Condition) -> Any:
    match condition:
        case Filter():
            return selection(condition)
        case IsNull(field):
            return models.IsNullCondition(is_null=models.PayloadField(key=field))
        case IsEmpty(field):
            return models.IsEmptyCondition(is_empty=models.PayloadField(key=field))
        case HasId(ids):
            return models.HasIdCondition(has_id=[validation.point_id(each) for each in ids])
        case Nested(field, inner):
            nested = models.Nested(key=field, filter=selection(inner))
            return models.NestedCondition(nested=nested)
        case _:
            return _field(condition)


def _field(
    condition: Match | MatchAny | MatchExcept | MatchText | Range | DatetimeRange,
) -> models.FieldCondition:
    match condition:
        case Match(field, float(value)):
            return models.FieldCondition(key=field, range=models.Range(gte=value, lte=value))
        case Range(field, gt, gte, lt, lte):
            bounds = models.Range(gt=gt, gte=gte, lt=lt, lte=lte)
            return models.FieldCondition(key=field, range=bounds)
        case DatetimeRange(field):
            return models.FieldCondition(key=field, range=_moments(condition))
        case _:
            return models.FieldCondition(key=condition.field, match=_match(condition))


def _match(condition: Match | MatchAny | MatchExcept | MatchText) -> Any:
    match condition:
        case MatchAny(_, values):
            return models.MatchAny(any=_list(values))
        case MatchExcept(_, values):
            return models.MatchExcept(**{"except": _list(values)})
        case MatchText(_, text):
            return models.MatchText(text=text)
        case Match(_, value):
            return models.MatchValue(value=value)


def _list(values: Sequence[str] | Sequence[int]) -> Any:
    return list(values)


def _moments(condition: DatetimeRange) -> models.DatetimeRange:
    for bound in (condition.gt, condition.gte, condition.lt, condition.lte):
        if bound is not None:
            validation.moment(bound)
    return models.DatetimeRange(
        gt=condition.gt, gte=condition.gte, lt=condition.lt, lte=condition.lte
    )


# --- requests ------------------------------------------------------------------------------


def query(asked: Query) -> models.QueryRequest:
    """The filter is given to every leg."""
    where = filters(asked.filter)
    if asked.fusion is None:
        [leg] = asked.prefetch
        return models.QueryRequest(
            query=_vector(leg.vector),
            using=leg.using,
            filter=where,
            limit=asked.limit,
            offset=asked.offset,
            with_payload=asked.with_payload,
        )
    return models.QueryRequest(
        query=_fusion(asked.fusion),
        prefetch=[_prefetch(leg, where) for leg in asked.prefetch],
        limit=asked.limit,
        offset=asked.offset,
        with_payload=asked.with_payload,
    )


def _prefetch(leg: Prefetch, where: models.Filter | None) -> models.Prefetch:
    return models.Prefetch(
        query=_vector(leg.vector), using=leg.using, limit=leg.limit, filter=where
    )


def _fusion(fusion: Fusion) -> models.RrfQuery | models.FusionQuery:
    if isinstance(fusion, RankFusion):
        weights = list(fusion.weights) or None
        return models.RrfQuery(rrf=models.Rrf(k=fusion.k, weights=weights))
    return models.FusionQuery(fusion=models.Fusion.DBSF)


def order(order_by: OrderBy | None) -> models.OrderBy | None:
    if order_by is None:
        return None
    direction = models.Direction.DESC if order_by.descending else models.Direction.ASC
    return models.OrderBy(key=order_by.field, direction=direction)


# --- answers -------------------------------------------------------------------------------


def record(found: models.Record) -> Record:
    vectors = found.vector if isinstance(found.vector, Mapping) else {}
    stored = {name: _stored(value) for name, value in vectors.items()}
    return Record(id=str(found.id), payload=found.payload or {}, vectors=stored)


def _stored(value: Any) -> Vector:
    if isinstance(value, models.SparseVector):
        return Sparse(value.indices, value.values)
    return list(value)


def hit(found: models.ScoredPoint) -> Hit:
    return Hit(id=str(found.id), score=found.score, payload=found.payload or {})


def facets(found: models.FacetResponse) -> list[FacetCount]:
    # A value whose last point is gone may still be listed, with nothing.
    return [FacetCount(value=each.value, count=each.count) for each in found.hits if each.count]
