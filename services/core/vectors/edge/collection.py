"""One collection of the embedded store: a shard of the engine and the spec beside it."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge as edge

from services.core.errors import CtxError, InvalidInput, StorageFailed
from services.core.files import replace_file
from services.core.vectors import generations, validation
from services.core.vectors.edge import convert
from services.core.vectors.types import (
    CollectionInfo,
    CollectionSpec,
    EmbeddingModel,
    FacetCount,
    Filter,
    Hit,
    IndexKind,
    OrderBy,
    Point,
    Query,
    Record,
)

T = TypeVar("T")

SPEC_FILE = "collection.json"
SHARD_FOLDER = "shard"

_ORDERABLE = {IndexKind.INTEGER, IndexKind.FLOAT, IndexKind.DATETIME}
_COUNTABLE = {IndexKind.KEYWORD, IndexKind.INTEGER, IndexKind.BOOL}


class EdgeCollection:
    """Every method is one short engine call on the caller's thread."""

    def __init__(self, folder: Path, spec: CollectionSpec, shard: edge.EdgeShard) -> None:
        self.folder = folder
        self.spec = spec
        self._shard = shard
        # Changes that only the write-ahead log holds; replayed if the process dies now.
        self.unflushed = 0

    @classmethod
    def create(cls, folder: Path, spec: CollectionSpec) -> "EdgeCollection":
        """The spec file is written last: a folder without it was never finished."""
        (folder / SHARD_FOLDER).mkdir(parents=True)
        with engine_errors(folder.name):
            shard = edge.EdgeShard.create(str(folder / SHARD_FOLDER), convert.config(spec))
            for field, kind in spec.indexes.items():
                shard.update(convert.index(field, kind))
            shard.flush()
        _write_spec(folder, spec)
        return cls(folder, spec, shard)

    @classmethod
    def load(cls, folder: Path) -> "EdgeCollection":
        """Replays what the write-ahead log holds and was not flushed."""
        spec = _read_spec(folder)
        with engine_errors(folder.name):
            shard = edge.EdgeShard.load(str(folder / SHARD_FOLDER))
        return cls(folder, spec, shard)

    @property
    def name(self) -> str:
        """The one that people know."""
        return generations.logical(self.folder.name)

    @property
    def points(self) -> int:
        return self._call(lambda: self._shard.info().points_count)

    def info(self) -> CollectionInfo:
        found = self._call(self._shard.info)
        return CollectionInfo(
            name=self.name,
            spec=self.spec,
            points_count=found.points_count,
            indexed_vectors_count=found.indexed_vectors_count,
            segments_count=found.segments_count,
            status="green",
            optimizer_status="ok",
        )

    def adapt(self, wanted: CollectionSpec) -> None:
        """Add the indexes that are missing and remember the model where none was."""
        added = {
            field: kind
            for field, kind in wanted.indexes.items()
            if self.spec.indexes.get(field) != kind
        }
        for field, kind in added.items():
            self._index(field, kind)
        model = self.spec.model or wanted.model
        if added or model != self.spec.model:
            self.spec = replace(self.spec, indexes={**self.spec.indexes, **added}, model=model)
            _write_spec(self.folder, self.spec)

    def _index(self, field: str, kind: IndexKind) -> None:
        self._change(1, lambda: convert.index(field, kind))

    def check(self, points: Sequence[Point]) -> None:
        for point in points:
            validation.point_id(point.id)
            for name, value in point.vectors.items():
                validation.vector(self.spec, name, value)

    def upsert(self, points: Sequence[Point]) -> None:
        self._change(len(points), lambda: convert.upsert(points))

    def selected(
        self, where: Filter, limit: int, offset: str | None
    ) -> tuple[list[str], str | None]:
        """One page of the ids that the filter selects, and where the next page starts."""
        found, following = self._call(
            lambda: self._shard.scroll(convert.scroll_ids(where, limit, offset))
        )
        return [str(each.id) for each in found], None if following is None else str(following)

    def delete(self, ids: Sequence[str], where: Filter) -> None:
        self._change(len(ids), lambda: convert.delete(ids, where))

    def retrieve(self, ids: Sequence[str], fields: Sequence[str] | None) -> list[Record]:
        wanted = list(dict.fromkeys(validation.point_id(each) for each in ids))
        asked = True if fields is None else list(fields)
        found = self._call(lambda: self._shard.retrieve(wanted, asked, False))  # type: ignore[arg-type]
        by_id = {record.id: record for record in map(convert.record, found)}
        return [by_id[each] for each in wanted if each in by_id]

    def scroll(
        self,
        where: Filter | None,
        limit: int,
        order_by: OrderBy | None,
        offset: str | None,
        vectors: Sequence[str],
    ) -> tuple[list[Record], str | None]:
        validation.scroll(limit, order_by, offset)
        if order_by is not None:
            self._indexed("order_by", order_by.field, _ORDERABLE)
        found, following = self._call(
            lambda: self._shard.scroll(convert.scroll(where, limit, order_by, offset, vectors))
        )
        more = order_by is None and following is not None
        return [convert.record(each) for each in found], str(following) if more else None

    def count(self, where: Filter | None) -> int:
        if where is None:
            return self.points
        return self._call(
            lambda: self._shard.count(edge.CountRequest(filter=convert.filters(where)))
        )

    def facet(self, field: str, where: Filter | None, limit: int) -> list[FacetCount]:
        validation.positive("limit", limit)
        self._indexed("field", field, _COUNTABLE)
        found = self._call(lambda: self._shard.facet(convert.facet(field, where, limit)))
        return convert.facets(found)

    def query_batch(self, asked: Sequence[Query]) -> list[list[Hit]]:
        for each in asked:
            validation.query(each)
            for leg in each.prefetch:
                validation.vector(self.spec, leg.using, leg.vector)
        found = self._call(lambda: self._shard.query_batch(convert.batch(asked)))
        return [[convert.hit(each) for each in hits] for hits in found]

    def write_back(self) -> None:
        """Have the system write what the engine changed. Blocking, but not for the interpreter: the
        flush that follows finds the disk's part of its work done."""
        for path in self.folder.rglob("*"):
            with contextlib.suppress(OSError), path.open("rb+") as file:
                os.fsync(file.fileno())

    def flush(self) -> None:
        self._call(self._shard.flush)
        self.unflushed = 0

    def close(self) -> None:
        """Give up the shard's files and its lock, whatever the flush did."""
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Give the files up as they are: the write-ahead log holds what was not flushed."""
        self._shard.close()

    def _indexed(self, argument: str, field: str, kinds: set[IndexKind]) -> None:
        if self.spec.indexes.get(field) not in kinds:
            wanted = ", ".join(sorted(kinds))
            raise InvalidInput(argument, f"{field!r} has no index of the kinds {wanted}")

    def _change(self, points: int, operation: Callable[[], edge.UpdateOperation]) -> None:
        self._call(lambda: self._shard.update(operation()))
        self.unflushed += points

    def _call(self, work: Callable[[], T]) -> T:
        with engine_errors(self.name):
            return work()


@contextlib.contextmanager
def engine_errors(collection: str) -> Iterator[None]:
    """The engine raises bare exceptions, and panics that are no Exception at all."""
    try:
        yield
    except CtxError:
        raise
    except (TypeError, ValueError) as error:
        # The bindings could not read an argument, such as a list of mixed types.
        raise InvalidInput("request", str(error).splitlines()[0]) from error
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise StorageFailed(
            f"the embedded Qdrant failed on collection {collection}: {error}",
            collection=collection,
        ) from error


def _write_spec(folder: Path, spec: CollectionSpec) -> None:
    body = {
        "dense": dict(spec.dense),
        "sparse": list(spec.sparse),
        "multi": dict(spec.multi),
        "indexes": {field: kind.value for field, kind in spec.indexes.items()},
        "model": spec.model and asdict(spec.model),
        "purpose": spec.purpose,
        "rebuild_command": spec.rebuild_command,
        "model_setting": spec.model_setting,
    }
    replace_file(folder / SPEC_FILE, json.dumps(body, indent=2))


def _read_spec(folder: Path) -> CollectionSpec:
    try:
        body: dict[str, Any] = json.loads((folder / SPEC_FILE).read_text(encoding="utf-8"))
        return CollectionSpec(
            dense=body["dense"],
            sparse=tuple(body["sparse"]),
            multi=body["multi"],
            indexes={field: IndexKind(kind) for field, kind in body["indexes"].items()},
            model=EmbeddingModel(**body["model"]) if body["model"] else None,
            # Earlier versions wrote none of these.
            purpose=body.get("purpose", ""),
            rebuild_command=body.get("rebuild_command", ""),
            model_setting=body.get("model_setting", ""),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageFailed(f"{folder / SPEC_FILE} cannot be read: {error}") from error


def broken_info(folder: Path, reason: str) -> CollectionInfo:
    """Describe a collection that could not be loaded, with its spec where that can be read."""
    try:
        spec = _read_spec(folder)
    except StorageFailed:
        spec = CollectionSpec()
    return CollectionInfo(
        name=generations.logical(folder.name),
        spec=spec,
        points_count=0,
        indexed_vectors_count=0,
        segments_count=0,
        status="red",
        optimizer_status=reason,
    )
