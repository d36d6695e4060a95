"""One collection of the embedded store: a shard of the engine and its spec in a file."""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import qdrant_edge as edge

from ctx_core.errors import InvalidInput, StorageFailed
from ctx_core.vectors import validation
from ctx_core.vectors.edge import convert
from ctx_core.vectors.edge.mapped_pages import MappedPages
from ctx_core.vectors.edge.shard import Shard
from ctx_core.vectors.edge.spec_file import read_spec, write_spec
from ctx_core.vectors.generations import logical_name
from ctx_core.vectors.points import FacetCount, Hit, Point, Record
from ctx_core.vectors.queries import Filter, Query
from ctx_core.vectors.spec_check import rebuild_command
from ctx_core.vectors.specs import BROKEN, CollectionInfo, CollectionSpec, IndexKind

DELETED_FILE = "deleted"  # how many; a hint, written with each flush
PROBED_POINTS = 64  # half a millisecond

_COUNTABLE = {IndexKind.KEYWORD, IndexKind.INTEGER, IndexKind.BOOL}


class EdgeCollection:
    """An open shard. Every method is one engine call on the caller's thread, and blocks it."""

    def __init__(self, folder: Path, spec: CollectionSpec, shard: Shard) -> None:
        self.folder = folder
        self.spec = spec
        self._shard = shard
        # Changes that only the write-ahead log holds; a crash now means to replay them.
        self.unflushed = 0
        # Points deleted since it was made: the engine keeps their memory and disk.
        self.deleted = _read_deleted(folder)
        # Being filled with these points: each change is made to it too.
        self.copy: EdgeCollection | None = None
        self._pages = MappedPages(folder)

    @classmethod
    def create(cls, folder: Path, spec: CollectionSpec) -> "EdgeCollection":
        """Create a collection. Its spec is written last: a folder without one is incomplete."""
        shard = Shard.create(folder, spec)
        write_spec(folder, spec)
        return cls(folder, spec, shard)

    @classmethod
    def load(cls, folder: Path) -> "EdgeCollection":
        """Open a collection and replay its write-ahead log. Raises StorageFailed."""
        return cls(folder, read_spec(folder), Shard.load(folder))

    @property
    def name(self) -> str:
        """The collection name that users know."""
        return logical_name(self.folder.name)

    @property
    def points_count(self) -> int:
        return self._shard.call(lambda shard: shard.info().points_count)

    def info(self) -> CollectionInfo:
        info = self._shard.call(lambda shard: shard.info())
        return CollectionInfo(
            name=self.name,
            spec=self.spec,
            points_count=info.points_count,
            indexed_vectors_count=info.indexed_vectors_count,
            segments_count=info.segments_count,
            status=BROKEN if self._shard.damage else "green",
            optimizer_status=self._shard.damage,
        )

    def examined(self) -> CollectionInfo:
        """Describe the collection after reading some of its points, which tells its status."""
        with contextlib.suppress(StorageFailed):
            self.probe()
        return self.info()

    def lacks(self, expected: CollectionSpec) -> bool:
        """Whether an index is missing, or the spec has no model."""
        return self._adapted(expected) != self.spec

    def adapt(self, expected: CollectionSpec) -> None:
        """Add the indexes that are missing, and the model where the spec has none."""
        self.copy = None  # it has the former spec
        adapted = self._adapted(expected)
        for field, kind in adapted.indexes.items():
            if self.spec.indexes.get(field) != kind:
                self._add_index(field, kind)
        self.spec = adapted
        write_spec(self.folder, self.spec)

    def _adapted(self, expected: CollectionSpec) -> CollectionSpec:
        indexes = {**self.spec.indexes, **expected.indexes}
        return replace(self.spec, indexes=indexes, model=self.spec.model or expected.model)

    def _add_index(self, field: str, kind: IndexKind) -> None:
        self._update(1, lambda: convert.index(field, kind))

    def check(self, points: Sequence[Point]) -> None:
        """Raise InvalidInput for a point that this collection cannot store."""
        for point in points:
            validation.canonical_id(point.id)
            for name, value in point.vectors.items():
                validation.check_vector(self.spec, name, value)

    def upsert(self, points: Sequence[Point]) -> None:
        self._update(len(points), lambda: convert.upsert(points))

    def select_ids(
        self, where: Filter, limit: int, offset: str | None
    ) -> tuple[list[str], str | None]:
        """Return one page of the ids that the filter selects, and where the next page starts."""
        records, following = self._shard.read(
            lambda shard: shard.scroll(convert.scroll_ids(where, limit, offset)), self._remedy
        )
        return [str(each.id) for each in records], None if following is None else str(following)

    def delete(self, ids: Sequence[str], where: Filter) -> None:
        self._update(len(ids), lambda: convert.delete(ids, where))
        self.deleted += len(ids)

    def retrieve(self, ids: Sequence[str], fields: Sequence[str] | None) -> list[Record]:
        unique = list(dict.fromkeys(validation.canonical_id(each) for each in ids))
        with_payload = True if fields is None else list(fields)
        records = self._shard.read(
            lambda shard: shard.retrieve(unique, with_payload, False),  # type: ignore[arg-type]
            self._remedy,
        )
        by_id = {record.id: record for record in map(convert.record, records)}
        return [by_id[each] for each in unique if each in by_id]

    def scroll(
        self,
        where: Filter | None,
        limit: int,
        offset: str | None,
        vectors: Sequence[str],
        fields: Sequence[str] | None = None,
    ) -> tuple[list[Record], str | None]:
        validation.check_positive("limit", limit)
        records, following = self._shard.read(
            lambda shard: shard.scroll(convert.scroll(where, limit, offset, vectors, fields)),
            self._remedy,
        )
        page = [convert.record(each) for each in records]
        return page, None if following is None else str(following)

    def count(self, where: Filter | None) -> int:
        if where is None:
            return self.points_count
        return self._shard.call(
            lambda shard: shard.count(edge.CountRequest(filter=convert.filters(where)))
        )

    def facet(self, field: str, where: Filter | None, limit: int) -> list[FacetCount]:
        validation.check_positive("limit", limit)
        if self.spec.indexes.get(field) not in _COUNTABLE:
            kinds = ", ".join(sorted(_COUNTABLE))
            raise InvalidInput("field", f"{field!r} has no index of the kinds {kinds}")
        response = self._shard.call(lambda shard: shard.facet(convert.facet(field, where, limit)))
        return convert.facets(response)

    def query_batch(self, queries: Sequence[Query]) -> list[list[Hit]]:
        for query in queries:
            validation.check_query(query)
            validation.check_vector(self.spec, query.using, query.vector)
        results = self._shard.read(
            lambda shard: shard.query_batch(convert.batch(queries)), self._remedy
        )
        return [[convert.hit(point) for point in points] for points in results]

    def probe(self) -> None:
        """Read some points from a random place. Raises StorageFailed where damage is known."""
        page, _ = self.scroll(None, PROBED_POINTS, str(uuid4()), ())
        if not page:  # no id is as high
            self.scroll(None, PROBED_POINTS, None, ())
        if self._shard.damage:
            raise StorageFailed(self._shard.damage, collection=self.name)

    def write_back(self) -> None:
        """Make the system write changed files to the disk, so that a flush after it is short.

        Blocks, but not the interpreter: call it off the event loop.
        """
        with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
            for path in self.folder.rglob("*"):
                with contextlib.suppress(OSError), path.open("rb+") as file:
                    os.fsync(file.fileno())

    def flush(self) -> None:
        """Write all changes to the disk. Raises StorageFailed."""
        self._shard.call(lambda shard: shard.flush())
        self.unflushed = 0
        with contextlib.suppress(OSError):
            (self.folder / DELETED_FILE).write_text(str(self.deleted))

    def close(self) -> None:
        """Flush and release the shard's files and lock; they are released also if that fails."""
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Release the files without a flush: the write-ahead log holds the changes."""
        self._shard.close()
        if self.copy is not None:
            self.copy.abandon()
            self.copy = None

    def _update(self, changes: int, operation: Callable[[], edge.UpdateOperation]) -> None:
        self._shard.call(lambda shard: shard.update(operation()))
        self.unflushed += changes
        self._pages.note(changes)
        if self.copy is not None:
            try:
                self.copy._update(changes, operation)
            except StorageFailed:  # the copy is given up, this collection has the change
                self.copy = None

    def _remedy(self) -> str:
        command = rebuild_command(self.name, self.spec)
        return f"rebuild it with: {command}" if command else f"delete {self.folder}"


def broken_info(folder: Path, reason: str) -> CollectionInfo:
    """Describe a collection that could not be loaded, with its spec where that can be read."""
    try:
        spec = read_spec(folder)
    except StorageFailed:
        spec = CollectionSpec()
    return CollectionInfo(
        name=logical_name(folder.name),
        spec=spec,
        points_count=0,
        indexed_vectors_count=0,
        segments_count=0,
        status=BROKEN,
        optimizer_status=reason,
    )


def _read_deleted(folder: Path) -> int:
    """Read how many points were deleted at the last flush; 0 where that is not known."""
    try:
        return int((folder / DELETED_FILE).read_text())
    except (OSError, ValueError):
        return 0
