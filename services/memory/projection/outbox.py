"""Carries entries from SQL to Qdrant: what is committed there becomes searchable here."""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

from services.core.background import beside
from services.core.embedding.protocol import Embedder
from services.core.errors import CollectionNotFound, CtxError, ModelMismatch, StorageFailed
from services.core.serving import progress
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import Filter, HasId
from services.memory.projection.compare import Drift, compare
from services.memory.projection.projection import ProjectionTarget, with_revision
from services.memory.projection.rebuild import PERMANENT_ERRORS, fill
from services.memory.records.store import LEASE_SECONDS, Records
from services.memory.records.types import Due, Entry, EntryKind

log = logging.getLogger(__name__)

BATCH = 100  # entries written to Qdrant at a time
RETRY_SECONDS = 5.0  # between attempts while Qdrant does not answer
RENEWALS_A_LEASE = 3  # so that one that comes late loses nothing
OTHERS_POLL_SECONDS = 0.05  # while another process carries what a caller waits for


class Outbox:
    """Writes the points of committed entries, again and again until it succeeds.

    `alone` says that no other process can write to this Qdrant. `waiting` is how many entries were
    left at the last look, `problems` says of which entries Qdrant takes no points, and why.
    """

    def __init__(
        self,
        records: Records,
        store: VectorStore,
        embedder: Embedder,
        routes: Mapping[EntryKind, ProjectionTarget],
        *,
        alone: bool,
    ) -> None:
        self._records = records
        self._store = store
        self._embedder = embedder
        self._routes = routes
        self._alone = alone
        self._turn = asyncio.Lock()
        self._rebuilds = asyncio.Lock()
        self._ready: dict[str, str] = {}  # collection → what stood behind it when it was checked
        self._builds: dict[str, str] = {}  # collection → what is to take its place
        self._healed = False
        self._failures = 0
        self._last_failure = ""
        self.waiting = 0
        self.problems: dict[str, str] = {}

    @property
    def is_behind(self) -> bool:
        """Whether there may be entries without their points."""
        return not self._healed or self.waiting > 0 or bool(self.problems)

    async def drain(self, uuids: Sequence[str] | None = None) -> None:
        """Write everything that is due, and wait for what another process writes of these entries.

        Callers that wait for their turn find their work done by others.
        """
        await self._drain()
        while uuids and not self._alone and await self._records.pending(uuids):
            await asyncio.sleep(OTHERS_POLL_SECONDS)
            await self._drain()

    async def heal(self) -> None:
        """After a crash or a lost Qdrant folder: write what is missing there again."""
        await self._begin()
        collections = await self._collections()
        for kind, collection, _ in collections:
            await self._renew(kind, collection)
            await self._ensure(kind, collection)
        await self.drain()
        for kind, collection, count in collections:
            if await self._store.count(collection, self._routes[kind].one_each) < count:
                log.warning("collection %s misses entries: writing them again", collection)
                found = await self._compare(kind, collection)
                await self._records.enqueue(found.lacking, kind, collection)
        await self.drain()
        self._healed = True

    async def reconcile(self) -> dict[str, Drift]:
        """Make every collection equal to SQL; what was different in each."""
        await self._begin()
        answer: dict[str, Drift] = {}
        for kind, collection, _ in await self._collections():
            await self._renew(kind, collection)
            await self._ensure(kind, collection)
            await self.drain()
            found = answer[collection] = await self._compare(kind, collection)
            await self._records.enqueue([*found.lacking, *found.strays], kind, collection)
        await self.drain()
        return answer

    async def rebuild(self) -> dict[EntryKind, int]:
        """Build every collection anew behind the old one, which answers until the new one is whole;
        how many entries of each kind there are."""
        async with self._rebuilds:
            await self._begin()
            collections = await self._collections()
            counts: dict[EntryKind, int] = defaultdict(int)
            async with self._building():
                for kind, collection, _ in collections:
                    await self._build(kind, collection)
                for kind, collection, count in collections:
                    await self._replace(kind, collection)
                    counts[kind] += count
            await (self.heal() if self._alone else self.reconcile())
            return dict(counts)

    async def _build(self, kind: EntryKind, collection: str) -> None:
        with contextlib.suppress(ModelMismatch, StorageFailed):  # whatever it is, it will go
            await self._ensure(kind, collection)
        spec = self._routes[kind].writer.collection_spec(self._embedder)
        self._builds[collection] = await self._store.build(collection, spec)

    async def _replace(self, kind: EntryKind, collection: str) -> None:
        refused = await self._fill(kind, collection, self._builds[collection])
        async with self._turn:  # what is being written goes to both or to the new one
            await self._store.swap(collection, self._builds.pop(collection))
        await self._records.enqueue(refused, kind, collection)  # to be put aside with the reason

    @contextlib.asynccontextmanager
    async def _building(self) -> AsyncIterator[None]:
        """What is not whole when it ends is dropped."""
        try:
            yield
        finally:
            while self._builds:
                _, built = self._builds.popitem()
                with contextlib.suppress(CtxError):
                    await self._store.delete_collection(built)

    async def _fill(self, kind: EntryKind, collection: str, built: str) -> list[str]:
        """Entries are read and written in turn with the outbox's rows, so that an older revision
        never overwrites a newer one."""
        writer = self._routes[kind].writer
        uuids = list(await self._records.revisions(kind, collection))
        refused: list[str] = []
        for start in range(0, len(uuids), BATCH):
            async with self._turn:
                entries = await self._records.get_by_uuid(uuids[start : start + BATCH], kind)
                refused += await fill(self._store, self._embedder, writer, built, entries)
            await progress.report(start + len(entries), len(uuids), f"rebuilding {collection}")
        return refused

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Retry in the background, and write what is left at the end."""
        try:
            async with beside(self._retry()):
                yield
        finally:
            with _logged("entries stay in the outbox until the next start"):
                await self.drain()

    async def _retry(self) -> None:
        while True:
            await asyncio.sleep(RETRY_SECONDS)
            try:
                self.waiting = await self._records.pending()
                await (self.drain() if self._healed else self.heal())
            except ModelMismatch as error:  # until somebody rebuilds; the start said it
                log.debug("entries wait for their vectors: %s", error)
            except CtxError as error:
                log.warning("entries wait for their vectors: %s", error)

    async def _begin(self) -> None:
        """What a dead process had claimed is free, and what was put aside is tried again."""
        if self._alone:
            async with self._turn:
                await self._records.release(everybody=True)
        await self._records.retry_parked()

    async def _drain(self) -> None:
        failures = self._failures
        async with self._turn:
            if self._failures != failures:  # of who was before us: it is too early to try again
                raise StorageFailed(self._last_failure)
            while due := await self._records.due(BATCH):
                await self._carry(due)
                if len(due) < BATCH:  # who adds more calls us again
                    break
            self.waiting = 0

    async def _carry(self, due: Sequence[Due]) -> None:
        try:
            async with self._claimed():
                await self._write(due)
        except PERMANENT_ERRORS as error:
            if len(due) > 1:
                for item in due:
                    await self._carry([item])
                return
            await self._park(due[0], str(error))
            return
        except CtxError as error:
            self._failures += 1
            self.waiting = max(self.waiting, len(due))
            self._last_failure = error.message
            await self._records.release()
            raise
        await self._records.done(due)
        for item in due:
            self.problems.pop(item.uuid, None)

    async def _park(self, due: Due, problem: str) -> None:
        """Put aside what can never be written, so that it does not hold up the others."""
        log.error("entry %s cannot be written to Qdrant: %s", due.uuid, problem)
        await self._records.park(due, problem)
        self.problems[due.uuid] = problem

    @contextlib.asynccontextmanager
    async def _claimed(self) -> AsyncIterator[None]:
        """However long the writing takes, what we claimed stays ours."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(LEASE_SECONDS / RENEWALS_A_LEASE)
                with _logged("claims on the outbox were not renewed"):
                    await self._records.renew()

        async with beside(renew()):
            yield

    async def _write(self, due: Sequence[Due]) -> None:
        groups: dict[tuple[EntryKind, str], dict[str, Entry | None]] = defaultdict(dict)
        for item in due:
            groups[item.kind, item.collection][item.uuid] = item.entry
        for (kind, collection), by_uuid in groups.items():
            try:
                for target in await self._targets(kind, collection):
                    await self._write_group(self._routes[kind], target, by_uuid)
            except CollectionNotFound:  # somebody deleted it: the next attempt builds it anew
                self._ready.pop(collection, None)
                self._healed = False
                raise

    async def _targets(self, kind: EntryKind, collection: str) -> list[str]:
        """While a collection is rebuilt, also what is to take its place. An old one of another
        model takes no more points: what is written then waits until the new one is there."""
        built = self._builds.get(collection)
        try:
            await self._ensure(kind, collection)
        except ModelMismatch as mismatch:
            if built is None:
                raise
            raise StorageFailed(
                f"collection {collection} is being rebuilt with another model; what is written "
                "meanwhile is found when that is done"
            ) from mismatch
        return [collection] if built is None else [built, collection]

    async def _write_group(
        self, route: ProjectionTarget, collection: str, by_uuid: Mapping[str, Entry | None]
    ) -> None:
        """New points first, so that an entry is found at every moment; then older ones go."""
        there = [entry for entry in by_uuid.values() if entry is not None]
        if there:
            rows = await asyncio.to_thread(with_revision, route.writer, there, self._embedder)
            await self._store.upsert(collection, rows)
            changed = [entry.uuid for entry in there if entry.revision > 1]
            if changed:
                now = HasId([row.id for row in rows])
                of_them = route.writer.of(changed)
                await self._store.delete(collection, Filter(must=[of_them], must_not=[now]))
        gone = [uuid for uuid, entry in by_uuid.items() if entry is None]
        if gone:
            await self._store.delete(collection, route.writer.of(gone))

    async def _compare(self, kind: EntryKind, collection: str) -> Drift:
        return await compare(self._store, self._records, kind, collection)

    async def _collections(self) -> list[tuple[EntryKind, str, int]]:
        """(kind, collection, how many entries SQL has for it), also of those without entries.

        A collection that holds something else is left alone: its entries cannot be written."""
        found = []
        for kind, route in self._routes.items():
            counts = {route.collection: 0} | await self._records.counts(kind)
            found += [(kind, collection, count) for collection, count in counts.items()]
        return [each for each in found if await self._is_ours(*each[:2])]

    async def _is_ours(self, kind: EntryKind, collection: str) -> bool:
        try:
            stored = (await self._store.collection_info(collection)).spec.purpose
        except (CollectionNotFound, StorageFailed):  # whoever writes to it finds out
            return True
        expected = self._routes[kind].writer.collection_spec(self._embedder).purpose
        if stored and stored != expected:
            log.warning("collection %s holds %s: no %s are written", collection, stored, expected)
        return stored in ("", expected)

    async def _renew(self, kind: EntryKind, collection: str) -> None:
        """Build a collection anew whose points lack a vector that ours have, as an earlier version
        left it. Another model is not our choice to undo."""
        wanted = self._routes[kind].writer.collection_spec(self._embedder)
        try:
            stored = (await self._store.collection_info(collection)).spec
        except CollectionNotFound:
            return
        if stored.model != wanted.model:
            return
        if not (stored.purpose and set(wanted.sparse) <= set(stored.sparse)):
            log.warning("collection %s is of an earlier version: building it anew", collection)
            async with self._building():
                await self._build(kind, collection)
                await self._replace(kind, collection)

    async def _ensure(self, kind: EntryKind, collection: str) -> None:
        """Create the collection, or check that it was built with this model."""
        if self._ready.get(collection) != await self._store.resolve(collection):
            spec = self._routes[kind].writer.collection_spec(self._embedder)
            await self._store.ensure_collection(collection, spec)
            self._ready[collection] = await self._store.resolve(collection)


@contextlib.contextmanager
def _logged(consequence: str) -> Iterator[None]:
    try:
        yield
    except CtxError as error:
        log.warning("%s: %s", consequence, error)
