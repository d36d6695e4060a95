"""Leases: of several processes that use one Qdrant server, one at a time writes a repo.

Qdrant has no operation that writes only if nobody else did. So a process writes a claim, then reads
all claims: of two that do so at the same time at least one sees the other, and withdraws. A claim
that is held is renewed until it is released. It counts no more where it ran out, or where its
process was one of this machine and has ended.
"""

import asyncio
import contextlib
import logging
import os
import random
import socket
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from ctx_core.blocking import DISK
from ctx_core.clock import to_iso, utc_now
from ctx_core.errors import CollectionNotFound, CtxError, RepoInUse, StorageFailed
from ctx_core.vectors.points import Payload, Point
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match, MatchAny
from ctx_core.vectors.specs import CollectionSpec, IndexKind
from ctx_indexer.manifest.rows import RepoKey

log = logging.getLogger(__name__)

COLLECTION = "ctx-leases"
ALL_REPOS = "*"  # of a collection that is built anew
LEASE_SECONDS = 30.0
RENEWAL_SECONDS = 8.0  # three renewals may fail
SKEW_SECONDS = 10.0  # by which the clocks of two machines may differ
WAIT_SECONDS = 3.0  # for a run of another process that is about to end
RETRY_SECONDS = (0.05, 0.25)
MAX_CLAIMS = 1_000  # of one collection
SPEC = CollectionSpec(
    indexes={"collection": IndexKind.KEYWORD, "claim": IndexKind.KEYWORD}, purpose="leases"
)


@dataclass(frozen=True)
class Claim:
    """The claim of a process on a repo. `place` is the machine and its space of process ids."""

    id: str
    collection: str
    repo: str
    folder: str
    host: str
    pid: int
    place: str
    since: str
    expires: float
    held: bool = False

    def conflicts_with(self, other: "Claim") -> bool:
        same = self.repo == other.repo or ALL_REPOS in (self.repo, other.repo)
        return same and self.collection == other.collection


class Lease(Protocol):
    """The right to write a repo."""

    def check(self) -> None:
        """Raise StorageFailed where the lease could not be renewed in time."""
        ...


class Leases(Protocol):
    """The leases of this process."""

    def hold(self, key: RepoKey, folder: Path) -> contextlib.AbstractAsyncContextManager[Lease]:
        """Hold the lease of a repo during a block; raises RepoInUse, which names who has it."""
        ...


class NoLease:
    """The lease of a store that one process has to itself."""

    def check(self) -> None:
        """Do nothing: nobody else can write."""


NO_LEASE = NoLease()


class NoLeases:
    """The leases of a store that one process has to itself: the embedded engine's folder lock."""

    @contextlib.asynccontextmanager
    async def hold(self, key: RepoKey, folder: Path) -> AsyncIterator[Lease]:
        yield NO_LEASE


class _HeldLease:
    """A claim that this process holds, and renews until it is released."""

    def __init__(self, store: VectorStore, claim: Claim) -> None:
        self._store = store
        self._claim = claim
        self._renewed = time.monotonic()
        self._is_taken = False
        self.users = 0
        self.renewal = asyncio.create_task(self._renew(), name=f"lease of {claim.repo}")

    @property
    def is_lost(self) -> bool:
        return self._is_taken or time.monotonic() - self._renewed > LEASE_SECONDS

    def check(self) -> None:
        if self.is_lost:
            raise StorageFailed(
                f"the lease of {self._claim.repo} in collection {self._claim.collection} could not "
                "be renewed in time; nothing more is written, run it again"
            )

    async def release(self) -> None:
        self.renewal.cancel()
        await asyncio.gather(self.renewal, return_exceptions=True)
        with contextlib.suppress(CtxError):  # it runs out by itself
            await _remove(self._store, [self._claim])

    async def _renew(self) -> None:
        while not self._is_taken:
            await asyncio.sleep(RENEWAL_SECONDS)
            began = time.monotonic()
            try:
                if not await self._store.retrieve(COLLECTION, [self._claim.id], fields=["repo"]):
                    self._is_taken = True  # another process took it, as it had run out
                    return
                await _write(self._store, replace(self._claim, expires=_expiry()))
                self._renewed = began
            except CtxError as error:
                log.warning("the lease of %s is not renewed: %s", self._claim.repo, error)


class ServerLeases:
    """The leases of this process at a Qdrant server; within the process one is shared."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._held: dict[RepoKey, _HeldLease] = {}
        self._lock = asyncio.Lock()
        self._own: set[str] = set()  # ids of our claims

    @contextlib.asynccontextmanager
    async def hold(self, key: RepoKey, folder: Path) -> AsyncIterator[Lease]:
        async with self._lock:
            lease = self._held.get(key)
            if lease is None or lease.is_lost:
                lease = self._held[key] = await self._acquire(key, folder)
            lease.users += 1
        try:
            yield lease
        finally:
            lease.users -= 1
            if not lease.users:
                if self._held.get(key) is lease:
                    del self._held[key]
                await lease.release()

    async def _acquire(self, key: RepoKey, folder: Path) -> _HeldLease:
        """Claim a repo; wait a moment for another process, then raise RepoInUse."""
        await self._store.ensure_collection(COLLECTION, SPEC)
        claim = await DISK.run(_new_claim, key, folder)
        self._own.add(claim.id)
        until = time.monotonic() + WAIT_SECONDS
        while True:
            others = await self._others(claim)
            if not others:
                if await self._claim(claim):
                    return _HeldLease(self._store, replace(claim, held=True))
            elif time.monotonic() > until:
                raise _in_use(key, others)
            await asyncio.sleep(random.uniform(*RETRY_SECONDS))

    async def _claim(self, claim: Claim) -> bool:
        """Write a claim, and tell whether it is the only one; else it is withdrawn."""
        await _write(self._store, replace(claim, expires=_expiry()))
        try:
            if await self._others(claim):
                await _remove(self._store, [claim])
                return False
            await _write(self._store, replace(claim, expires=_expiry(), held=True))
        except BaseException:
            with contextlib.suppress(CtxError):
                await _remove(self._store, [claim])
            raise
        return True

    async def _others(self, claim: Claim) -> list[Claim]:
        """Return the claims of other processes that conflict with ours; dead ones are removed."""
        page, _ = await self._store.scroll(
            COLLECTION, where=Filter(must=[Match("collection", claim.collection)]), limit=MAX_CLAIMS
        )
        found = [each for record in page if (each := _read(record.id, record.payload))]
        others = [each for each in found if each.id not in self._own and each.conflicts_with(claim)]
        dead = [each for each in others if await DISK.run(_is_dead, each)]
        await _remove(self._store, dead)
        return [each for each in others if each not in dead]


async def _write(store: VectorStore, claim: Claim) -> None:
    payload = {name: value for name, value in asdict(claim).items() if name != "id"}
    payload["claim"] = claim.id
    await store.upsert(COLLECTION, [Point(claim.id, {}, payload)])


async def _remove(store: VectorStore, claims: Sequence[Claim]) -> None:
    # By a field, not by ids: Qdrant 1.17 that was killed cannot read a deletion by ids in its log.
    if claims:
        with contextlib.suppress(CollectionNotFound):
            own = MatchAny("claim", [each.id for each in claims])
            await store.delete(COLLECTION, Filter(must=[own]))


def _read(id_: str, payload: Payload) -> Claim | None:
    try:
        return Claim(id=id_, **{name: each for name, each in payload.items() if name != "claim"})
    except TypeError:
        return None  # of another version of ctx


def _new_claim(key: RepoKey, folder: Path) -> Claim:
    return Claim(
        id=str(uuid4()),
        collection=key.collection,
        repo=key.repo,
        folder=str(folder),
        host=socket.gethostname(),
        pid=os.getpid(),
        place=_place(),
        since=to_iso(utc_now(), "seconds"),
        expires=_expiry(),
    )


def _expiry() -> float:
    return time.time() + LEASE_SECONDS


def _place() -> str:
    """Return the name of this machine since its start, and of its space of process ids."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116 - a link of the kernel
    except OSError:
        return ""


def _is_dead(claim: Claim) -> bool:
    """Whether a claim ran out, or its process was one of this machine and has ended. Blocks.

    One that ends later than any can was written while a clock was wrong: it has run out too. A
    process that still has it notices, and writes no more.
    """
    left = claim.expires - time.time()
    if not -SKEW_SECONDS <= left <= LEASE_SECONDS + SKEW_SECONDS:
        return True
    if not claim.place or claim.place != _place():
        return False
    return claim.pid != os.getpid() and not Path(f"/proc/{claim.pid}").exists()


def _in_use(key: RepoKey, claims: Sequence[Claim]) -> RepoInUse:
    owner = next((each for each in claims if each.held), claims[0])
    return RepoInUse(
        f"{key.repo} in collection {key.collection} is written by process {owner.pid} on "
        f"{owner.host}, from {owner.folder}, since {owner.since}: search it as it is, or stop that "
        "process, or index into another collection",
        repo=key.repo,
        collection=key.collection,
        pid=owner.pid,
        owner=owner.host,
        folder=owner.folder,
        since=owner.since,
    )
