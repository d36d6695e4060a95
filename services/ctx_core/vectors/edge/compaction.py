"""Copies a collection without its deleted points.

The engine gives nothing back for a point that is deleted: its vectors, terms and numbers stay in
memory and on the disk. A server whose files or memories change would grow for ever.
"""

import asyncio
import logging
import shutil
from collections.abc import Callable
from pathlib import Path

from ctx_core.blocking import DISK
from ctx_core.errors import CtxError
from ctx_core.vectors.edge.batch_size import BatchSize
from ctx_core.vectors.edge.collection import EdgeCollection
from ctx_core.vectors.edge.flusher import MAX_CHANGES
from ctx_core.vectors.edge.free_space import FreeSpace
from ctx_core.vectors.edge.named_collections import NamedCollections
from ctx_core.vectors.generations import new_generation
from ctx_core.vectors.points import Point

log = logging.getLogger(__name__)

# Deleted points before a collection is copied, and at least as many as it has: about 7 MB of memory
# and 18 MB of disk, so that small collections are seldom copied and a copy of a large one pays.
MIN_DELETED = 5_000
PAUSE_SECONDS = 0.01  # for other calls between two batches: nobody waits for a copy


async def compact(
    collection: EdgeCollection, collections: NamedCollections, free_space: FreeSpace
) -> None:
    """Replace a collection by a copy without deleted points, where there are many of them."""
    physical, name = collection.folder.name, collection.name

    def is_wanted() -> bool:  # a collection that is rebuilt, or was deleted, needs no copy
        is_open = collection in collections.opened()
        return is_open and collections.is_current(physical) and not collections.replacements(name)

    if not is_wanted() or not _is_sparse(collection):
        return
    built = new_generation(name)
    try:
        free_space.require()
        if copy := await _copied(collection, collections.path(built), is_wanted):
            await collections.swap_copy(copy)
    except (CtxError, OSError) as error:
        log.error("collection %s still has its deleted points: %s", name, error)
        collection.deleted = 0  # not again before as many more are deleted
        if not collections.is_current(built):
            await collections.discard(built)


def _is_sparse(collection: EdgeCollection) -> bool:
    return collection.deleted >= max(MIN_DELETED, collection.points_count)


async def _copied(
    source: EdgeCollection, folder: Path, is_wanted: Callable[[], bool]
) -> EdgeCollection | None:
    """Copy a collection in use, batch by batch; meanwhile both get every new change.

    Return the flushed copy, or None where it is not wanted any more. Raises StorageFailed, OSError.
    """
    copy = source.copy = EdgeCollection.create(folder, source.spec)
    is_whole = False
    try:
        is_whole = await _fill(copy, source, is_wanted)
    finally:
        if source.copy is copy:
            source.copy = None
        if not is_whole:
            copy.abandon()
            shutil.rmtree(folder, ignore_errors=True)
    return copy if is_whole else None


async def _fill(
    copy: EdgeCollection, source: EdgeCollection, is_wanted: Callable[[], bool]
) -> bool:
    """Copy every point and flush; whether the copy holds all of them."""
    batch, offset = BatchSize(), None
    vectors = [*source.spec.dense, *source.spec.sparse]
    while True:
        with batch.timed():
            page, offset = source.scroll(None, batch.size, offset, vectors)
            copy.upsert([Point(each.id, each.vectors, each.payload) for each in page])
        if offset is None or copy.unflushed >= MAX_CHANGES:
            await DISK.run(copy.write_back)
        else:
            await asyncio.sleep(PAUSE_SECONDS)
        if source.copy is not copy or not is_wanted():
            return False
        if offset is None or copy.unflushed >= MAX_CHANGES:
            copy.flush()
        if offset is None:
            return True
