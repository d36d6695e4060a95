"""Drains the outbox: writes the points of entries that changed in SQL, until it succeeds."""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial

from ctx_core.background import BackgroundTasks
from ctx_core.errors import CollectionNotFound, CtxError, ModelMismatch, StorageFailed
from ctx_memory.projection.collections import ProjectedCollections
from ctx_memory.projection.projection import PERMANENT_ERRORS
from ctx_memory.records.entry import Entry, EntryKind
from ctx_memory.records.outbox import LEASE_SECONDS, OutboxItem, OutboxRecords

log = logging.getLogger(__name__)

BATCH = 100  # entries written to Qdrant at a time
RETRY_SECONDS = 5.0  # between attempts while Qdrant does not answer
RENEWALS_PER_LEASE = 3  # so that a late renewal loses no lease
OTHER_PROCESS_POLL_SECONDS = (
    0.05  # while a caller waits for the entries that another process writes
)


class Outbox:
    """Writes the points of committed entries.

    `alone` says that no other process writes to this Qdrant. `waiting` is the last count of entries
    that wait; `problems` has, by uuid, why Qdrant can never take an entry. `needs_healing` says
    that collections may lack points for which the outbox has no row, `late_drains` how many drains
    go on whose callers did not wait to the end.
    """

    def __init__(
        self, rows: OutboxRecords, collections: ProjectedCollections, *, alone: bool
    ) -> None:
        self.alone = alone
        self.waiting = 0
        self.problems: dict[str, str] = {}
        self.needs_healing = True
        self.late_drains = 0
        self._rows = rows
        self._collections = collections
        self._failure_count = 0
        self._last_failure = ""

    @property
    def is_behind(self) -> bool:
        """Whether entries may lack their points."""
        waits = self.waiting > 0 or self.late_drains > 0
        return self.needs_healing or waits or bool(self.problems)

    async def drain(self, uuids: Sequence[str] | None = None) -> None:
        """Write everything that is due, and wait for other processes that write these entries.

        Concurrent calls run one after another: the later ones find the work done.
        """
        await self._drain()
        while uuids and not self.alone and await self._rows.pending(uuids):
            await asyncio.sleep(OTHER_PROCESS_POLL_SECONDS)
            await self._drain()

    async def reset(self) -> None:
        """Release the leases of dead processes, and have parked entries tried again."""
        if self.alone:
            async with self._collections.write_lock:
                await self._rows.release(everybody=True)
        await self._rows.retry_parked()

    @contextlib.asynccontextmanager
    async def running(
        self, tasks: BackgroundTasks, heal: Callable[[], Awaitable[None]]
    ) -> AsyncIterator[None]:
        """Retry in the background, by `heal` where healing is needed; drain at the end."""
        try:
            async with tasks.run("retries of the outbox", partial(self._retry, heal)):
                yield
        finally:
            with _logged("entries stay in the outbox until the next start"):
                await self.drain()

    async def _retry(self, heal: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(RETRY_SECONDS)
            try:
                self.waiting = await self._rows.pending()
                await (heal() if self.needs_healing else self.drain())
            except ModelMismatch as error:  # until a rebuild; the start logged a warning
                log.debug("entries wait for their vectors: %s", error)
            except CtxError as error:
                log.warning("entries wait for their vectors: %s", error)

    async def _drain(self) -> None:
        failures = self._failure_count
        async with self._collections.write_lock:
            if self._failure_count != failures:
                # Another task failed while we waited for the lock: raise its error instead of
                # retrying now.
                raise StorageFailed(self._last_failure)
            while items := await self._rows.lease(BATCH):
                await self._write_leased(items)
                if len(items) < BATCH:  # rows added meanwhile have their own call of `drain`
                    break
            self.waiting = 0

    async def _write_leased(self, items: Sequence[OutboxItem]) -> None:
        """Write leased items and mark them done. An item that can never be written is parked."""
        try:
            async with self._renewed_leases():
                await self._write(items)
        except PERMANENT_ERRORS as error:
            if len(items) > 1:
                for item in items:
                    await self._write_leased([item])
                return
            await self._park(items[0], str(error))
            return
        except Exception as error:
            self._failure_count += 1
            self._last_failure = reason(error)
            self.waiting = max(self.waiting, len(items))
            await self._rows.release()
            raise
        await self._rows.done(items)
        for item in items:
            self.problems.pop(item.uuid, None)

    async def _write(self, items: Sequence[OutboxItem]) -> None:
        groups: dict[tuple[EntryKind, str], dict[str, Entry | None]] = defaultdict(dict)
        for item in items:
            groups[item.kind, item.collection][item.uuid] = item.entry
        for (kind, collection), entries in groups.items():
            try:
                await self._collections.write(kind, collection, entries)
            except CollectionNotFound:  # deleted from outside: healing creates and fills it again
                self.needs_healing = True
                raise

    async def _park(self, item: OutboxItem, problem: str) -> None:
        """Mark an item that can never be written, so that the others are not held up."""
        log.error("entry %s cannot be written to Qdrant: %s", item.uuid, problem)
        await self._rows.park(item, problem)
        self.problems[item.uuid] = problem

    @contextlib.asynccontextmanager
    async def _renewed_leases(self) -> AsyncIterator[None]:
        """Renew the leases of this process for as long as the block runs."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(LEASE_SECONDS / RENEWALS_PER_LEASE)
                with _logged("leases on the outbox were not renewed"):
                    await self._rows.renew()

        async with BackgroundTasks().run("renewal of leases", renew):
            yield


def reason(error: Exception) -> str:
    """Return why points were not written, for a caller: of an unexpected error only that."""
    if isinstance(error, CtxError):
        return error.message
    return "writing the vectors failed unexpectedly and is tried again; the log has the details"


@contextlib.contextmanager
def _logged(consequence: str) -> Iterator[None]:
    try:
        yield
    except CtxError as error:
        log.warning("%s: %s", consequence, error)
