"""The engine's part of one collection: calls of it, its errors, and the damage of its files."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import qdrant_edge as edge

from ctx_core.errors import CtxError, InvalidInput, StorageFailed
from ctx_core.vectors.edge import convert
from ctx_core.vectors.edge.spec_file import SPEC_FILE
from ctx_core.vectors.generations import logical_name
from ctx_core.vectors.specs import CollectionSpec

T = TypeVar("T")

SHARD_FOLDER = "shard"
DAMAGE_PREFIX = "Service runtime error"  # how the engine's errors begin that no request caused


class Shard:
    """A shard of the engine; `damage` names a fault of its files, once a read met one."""

    def __init__(self, folder: Path, opened: edge.EdgeShard) -> None:
        self.folder = folder
        self.damage: str | None = None
        self._opened = opened

    @classmethod
    def create(cls, folder: Path, spec: CollectionSpec) -> "Shard":
        """Create the shard of a collection, with its indexes."""
        (folder / SHARD_FOLDER).mkdir(parents=True)
        with engine_errors(folder.name):
            opened = edge.EdgeShard.create(str(folder / SHARD_FOLDER), convert.config(spec))
            for field, kind in spec.indexes.items():
                opened.update(convert.index(field, kind))
            opened.flush()
        return cls(folder, opened)

    @classmethod
    def load(cls, folder: Path) -> "Shard":
        """Open a shard and replay its write-ahead log. Raises StorageFailed."""
        with engine_errors(folder.name):
            return cls(folder, edge.EdgeShard.load(str(folder / SHARD_FOLDER)))

    def call(self, run: Callable[[edge.EdgeShard], T]) -> T:
        """Call the engine. Raises InvalidInput for a wrong request, else StorageFailed."""
        with engine_errors(logical_name(self.folder.name)):
            return run(self._opened)

    def read(self, run: Callable[[edge.EdgeShard], T], remedy: Callable[[], str]) -> T:
        """Call the engine; where the files prove damaged, raise an error with the remedy."""
        try:
            return self.call(run)
        except StorageFailed as error:
            if not _is_damage(error.__cause__):
                raise
            self.damage = f"{error.message}; its files are damaged: {remedy()}"
            raise StorageFailed(self.damage, collection=logical_name(self.folder.name)) from error

    def close(self) -> None:
        """Release the files and their lock, without a flush."""
        self._opened.close()


@contextlib.contextmanager
def engine_errors(collection: str) -> Iterator[None]:
    """Translate errors of the engine: bare exceptions, and panics that are no Exception."""
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


def is_unfinished(folder: Path) -> bool:
    """Whether a crash interrupted the creation of a collection: it has no spec and no points."""
    if (folder / SPEC_FILE).exists():
        return False
    try:
        shard = Shard.load(folder)
        has_points = shard.call(lambda opened: opened.info().points_count) > 0
        shard.call(lambda opened: opened.close())
    except StorageFailed:
        return True
    return not has_points


def _is_damage(cause: BaseException | None) -> bool:
    """Whether the engine could not read its own files: a panic, or an error of no request."""
    is_panic = cause is not None and not isinstance(cause, Exception)
    return is_panic or str(cause).startswith(DAMAGE_PREFIX)
