"""Makes Qdrant equal to SQL: heals at a start, reconciles and rebuilds on request."""

import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ctx_core.errors import CollectionNotFound, StorageFailed
from ctx_core.vectors.spec_check import has_vectors
from ctx_core.vectors.specs import BROKEN, CollectionSpec
from ctx_memory.projection.collections import ProjectedCollections
from ctx_memory.projection.compare import Drift, compare
from ctx_memory.projection.outbox import Outbox
from ctx_memory.projection.rebuild import Rebuilder
from ctx_memory.projection.unknown import (
    UnknownEntries,
    remove_unknown,
    unknown_problem,
)
from ctx_memory.records.entry import EntryKind
from ctx_memory.records.store import Records

log = logging.getLogger(__name__)


class _Collection(NamedTuple):
    """A collection, and how many entries SQL has for it."""

    kind: EntryKind
    name: str
    entry_count: int


@dataclass(frozen=True)
class RebuildReport:
    """The model of the rebuilt collections, and how many entries of each kind they hold."""

    model: str
    entry_counts: Mapping[EntryKind, int]


class Healer:
    """Compares collections with SQL, and has differing entries written or deleted."""

    def __init__(
        self,
        records: Records,
        collections: ProjectedCollections,
        outbox: Outbox,
        rebuilder: Rebuilder,
    ) -> None:
        self._records = records
        self._collections = collections
        self._outbox = outbox
        self._rebuilder = rebuilder
        self.unknown = UnknownEntries()

    async def heal(self) -> None:
        """Write the points that a crash, a lost or an older Qdrant folder left missing or outdated.

        Points of deleted entries are deleted. Points of entries that SQL never knew stay, and
        `unknown` says so.
        """
        await self._outbox.reset()
        collections = await self._list()
        for each in collections:
            await self._prepare(each)
        await self._outbox.drain()
        failures = [failure for each in collections if (failure := await self._try(each))]
        await self._outbox.drain()
        if failures:
            raise failures[0]
        self._outbox.needs_healing = False

    async def survey(self) -> dict[str, Drift]:
        """Return how each collection differs from SQL; write nothing."""
        return {each.name: await self._compare(each) for each in await self._readable()}

    async def reconcile(self) -> dict[str, Drift]:
        """Make every collection equal to SQL, but for unknown entries; return how each differed."""
        await self._outbox.reset()
        drifts: dict[str, Drift] = {}
        for each in await self._list():
            await self._prepare(each)
            await self._outbox.drain()
            drifts[each.name] = await self._correct(each)
        await self._outbox.drain()
        return drifts

    async def remove_unknown(self, folder: Path) -> dict[str, Path]:
        """Delete entries that SQL never knew; return the copy of each collection's."""
        copies: dict[str, Path] = {}
        for each in await self._readable():
            if unknown := (await self._compare(each)).unknown:
                projection = self._collections.targets[each.kind].projection
                store = self._collections.store
                copies[each.name] = await remove_unknown(
                    store, projection, each.name, unknown, folder
                )
        return copies

    async def rebuild(self) -> RebuildReport:
        """Rebuild every collection from SQL. The old ones answer until the new ones are complete.

        Other processes may have written to an old one until its swap: then all are reconciled.
        Raises StorageFailed where an old one holds entries that SQL never knew.
        """
        await self._outbox.reset()
        collections = await self._list()
        await self._refuse_unknown()
        await self._rebuilder.rebuild([(each.kind, each.name) for each in collections])
        await (self.heal() if self._outbox.alone else self.reconcile())
        counts: dict[EntryKind, int] = defaultdict(int)
        for each in collections:
            counts[each.kind] += each.entry_count
        return RebuildReport(self._collections.model, dict(counts))

    async def _list(self) -> list[_Collection]:
        """Return the default collections, and every other that entries belong to.

        A collection that holds something else is left out: its entries cannot be written.
        """
        found: list[_Collection] = []
        for kind, target in self._collections.targets.items():
            counts = {target.collection: 0} | await self._records.counts.collections(kind)
            found += [_Collection(kind, name, count) for name, count in counts.items()]
        return [each for each in found if await self._is_ours(each)]

    async def _is_ours(self, collection: _Collection) -> bool:
        """Whether the collection holds entries of its kind, or does not exist yet."""
        try:
            info = await self._collections.store.collection_info(collection.name)
        except (CollectionNotFound, StorageFailed):  # a write to it raises the error
            return True
        expected = self._collections.spec(collection.kind).purpose
        if info.spec.purpose and info.spec.purpose != expected:
            log.warning(
                "collection %s holds %s: no %s are written",
                collection.name,
                info.spec.purpose,
                expected,
            )
        return info.spec.purpose in ("", expected)

    async def _prepare(self, collection: _Collection) -> None:
        """Create the collection, or rebuild it where it has the shape of an earlier version.

        Raises ModelMismatch where it was built with another model: that is rebuilt on request only.
        """
        if await self._is_older(collection):
            log.warning(
                "collection %s has the shape of an earlier version: rebuilding it from SQL",
                collection.name,
            )
            await self._require_entries(collection)
            await self._rebuilder.rebuild([(collection.kind, collection.name)])
        await self._collections.ensure(collection.kind, collection.name)

    async def _is_older(self, collection: _Collection) -> bool:
        try:
            info = await self._collections.store.collection_info(collection.name)
        except CollectionNotFound:
            return False
        spec = self._collections.spec(collection.kind)
        return info.spec.model == spec.model and _lacks(info.spec, spec)

    async def _refuse_unknown(self) -> None:
        """Raise StorageFailed where a collection that can be read holds unknown entries."""
        for each in await self._readable():
            try:
                drift = await self._compare(each)
            except StorageFailed as error:
                log.warning("%s; it is rebuilt from SQL without it", error.message)
                continue
            if drift.unknown:
                raise StorageFailed(unknown_problem(each.name, drift), collection=each.name)

    async def _require_entries(self, collection: _Collection) -> None:
        """Raise StorageFailed where SQL has no entries for a collection that has points."""
        held = await self._collections.store.count(collection.name)
        if held and not collection.entry_count:
            raise StorageFailed(
                f"collection {collection.name} has the shape of an earlier version, and the "
                f"records have no entries to rebuild its {held:,} points from: put the right "
                "records back",
                collection=collection.name,
            )

    async def _readable(self) -> list[_Collection]:
        """Return the collections that exist and can be read: of a broken one nothing is known."""
        whole = {
            info.name
            for info in await self._collections.store.list_collections()
            if info.status != BROKEN
        }
        return [each for each in await self._list() if each.name in whole]

    async def _try(self, collection: _Collection) -> StorageFailed | None:
        """Correct a collection; return the error of one that is damaged, so that others follow."""
        try:
            await self._correct(collection)
        except StorageFailed as failure:
            return failure
        return None

    async def _correct(self, collection: _Collection) -> Drift:
        """Enqueue the entries that differ; the caller drains the outbox."""
        drift = await self._compare(collection)
        changed = [*drift.missing, *drift.outdated, *drift.orphaned]
        if changed:
            log.warning(
                "collection %s differs from SQL: writing %d missing and %d outdated entries, "
                "removing %d deleted ones",
                collection.name,
                len(drift.missing),
                len(drift.outdated),
                len(drift.orphaned),
            )
            await self._records.outbox.enqueue(changed, collection.kind, collection.name)
        if drift.unknown:
            log.error("%s", unknown_problem(collection.name, drift))
        return drift

    async def _compare(self, collection: _Collection) -> Drift:
        drift = await compare(
            self._collections.store, self._records.entries, collection.kind, collection.name
        )
        self.unknown.note(collection.name, drift)
        return drift


def _lacks(stored: CollectionSpec, spec: CollectionSpec) -> bool:
    """Whether the stored collection lacks its purpose, a vector or an indexed payload field."""
    has_indexes = spec.indexes.keys() <= stored.indexes.keys()
    return not (stored.purpose and has_vectors(stored, spec) and has_indexes)
