"""One cycle: load, a fault in the midst of it, recovery, and a look at all that must hold."""

import asyncio
import contextlib
import random
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import asyncpg
import httpx

from ctx_core.errors import CtxError, RemoteFailed, StorageFailed
from ctx_core.serving.mcp.client import call_tool
from scripts.bench.faults.clerk import NO_ANSWER, Clerk
from scripts.bench.faults.editor import Editor
from scripts.bench.faults.entries import inspect_entries
from scripts.bench.faults.fault import Fault
from scripts.bench.faults.index import inspect_index
from scripts.bench.faults.ledger import Ledger
from scripts.bench.faults.program import NotReady, Usage
from scripts.bench.faults.projected import inspect_points
from scripts.bench.faults.projects import HAS_LOCK, inspect_project
from scripts.bench.faults.world import INDEXER, MEMORIES, OURS, POSTGRES, QDRANT, World

CLERKS = 2  # a memory server
BEFORE_SECONDS = (0.05, 0.5)  # of load before the fault
AFTER_SECONDS = (0.1, 0.3)  # of load after the fault, and once more after recovery
AGREEMENT_SECONDS = 60.0  # until everything must agree again, without anybody's help
POLL_SECONDS = 0.15
# More than these at the end of a cycle is broken. Ours take up to 310 MB and 36 files; Qdrant's
# memory counts the files that it maps, PostgreSQL's is that of its first process.
MOST = {
    QDRANT: Usage(megabytes=1200, files=100),
    POSTGRES: Usage(megabytes=60, files=20),
    **dict.fromkeys(OURS, Usage(megabytes=400, files=64)),
}
TRACEBACK = "Traceback (most recent call last)"


@dataclass
class Outcome:
    """What a cycle did and found."""

    fault: str
    recovery_seconds: float = 0.0  # from the end of the fault until all are ready
    agreement_seconds: float = 0.0  # from the end of the load until all agree
    writes: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    usage: Mapping[str, Usage] = field(default_factory=dict)


class Bench:
    """A world under load, cycle after cycle."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self._world = world
        self._rng = rng
        self.ledgers = {name: Ledger() for name in OURS}
        self._tracebacks = dict.fromkeys(OURS, 0)
        self._known: set[str] = set()  # what an earlier cycle broke for good

    async def run(self, fault: Fault) -> Outcome:
        """Inject a fault under load and return what held."""
        outcome = Outcome(str(fault))
        before = {name: ledger.writes for name, ledger in self.ledgers.items()}
        for ledger in self.ledgers.values():
            ledger.calls.clear()
        async with self._load() as calm:
            await asyncio.sleep(self._rng.uniform(*BEFORE_SECONDS))
            await fault.inject(self._world, fault.target, self._rng)
            await asyncio.sleep(self._rng.uniform(*AFTER_SECONDS))
            calm.set()
            outcome.recovery_seconds = await self._recover(outcome)
            calm.clear()
            await asyncio.sleep(self._rng.uniform(*AFTER_SECONDS))
        await self._wait_for_agreement(outcome)
        self._note_answers(fault, outcome)
        outcome.writes = sum(ledger.writes - before[name] for name, ledger in self.ledgers.items())
        if not any("not ready" in each or " ended: " in each for each in outcome.broken):
            outcome.usage = {name: each.usage() for name, each in self._world.programs.items()}
            outcome.broken += excesses(outcome.usage)
        return outcome

    @contextlib.asynccontextmanager
    async def _load(self) -> AsyncIterator[asyncio.Event]:
        """Clerks and an editor work until the block ends, calmly while the event is set."""
        stop, calm = asyncio.Event(), asyncio.Event()
        workers: list[Clerk | Editor] = [
            Clerk(self._world.mcp(name), self.ledgers[name], self._own_rng())
            for name in MEMORIES
            for _ in range(CLERKS)
        ]
        workers.append(Editor(self._world, self.ledgers[INDEXER], self._own_rng()))
        async with asyncio.TaskGroup() as tasks:
            for worker in workers:
                tasks.create_task(worker.work(stop, calm))
            try:
                yield calm
            finally:
                stop.set()

    def _own_rng(self) -> random.Random:
        return random.Random(self._rng.random())

    async def _recover(self, outcome: Outcome) -> float:
        """Wait until every program is ready."""
        began = time.monotonic()
        for program in self._world.programs.values():
            try:
                await asyncio.to_thread(program.wait)
            except NotReady as error:
                outcome.broken.append(str(error))
        return time.monotonic() - began

    async def _wait_for_agreement(self, outcome: Outcome) -> None:
        """Look until everything holds; what does not after a while is broken."""
        began = time.monotonic()
        while found := await self._inspect():
            await self._push_locked(found)
            if time.monotonic() - began > AGREEMENT_SECONDS:
                outcome.broken += found
                self._known |= set(found)
                break
            await asyncio.sleep(POLL_SECONDS)
        outcome.agreement_seconds = time.monotonic() - began
        for ledger in self.ledgers.values():
            ledger.forget_gone()

    async def _inspect(self) -> list[str]:
        found: list[str] = []
        try:
            for name in MEMORIES:
                found += await inspect_entries(self._world, name, self.ledgers[name])
                found += await inspect_points(self._world, name)
                found += await asyncio.to_thread(
                    inspect_project, self._world, name, self.ledgers[name]
                )
            found += await inspect_index(self._world)
        except (CtxError, httpx.HTTPError, asyncpg.PostgresError, sqlite3.Error, OSError) as error:
            found.append(f"cannot be read: {type(error).__name__}: {error}")
        return [each for each in found if each not in self._known]

    async def _push_locked(self, found: list[str]) -> None:
        """Push where a lock of git was left, as a next user would: that is what deletes it."""
        for name in MEMORIES:
            if any(each.startswith(name) and HAS_LOCK in each for each in found):
                with contextlib.suppress(RemoteFailed, StorageFailed):
                    await call_tool(self._world.mcp(name), "context_sync_push", {})

    def _note_answers(self, fault: Fault, outcome: Outcome) -> None:
        for name, ledger in self.ledgers.items():
            outcome.calls += ledger.calls
            outcome.broken += [f"{name}: INTERNAL_ERROR: {each}" for each in ledger.defects]
            ledger.defects.clear()
            if ledger.calls[NO_ANSWER] and name != fault.target:
                unanswered = ledger.calls[NO_ANSWER]
                outcome.broken.append(f"{name}: {unanswered} calls without an answer")
            seen = self._world.programs[name].log.read_text(errors="replace").count(TRACEBACK)
            if seen > self._tracebacks[name]:
                outcome.broken.append(f"{name}: a traceback in its log")
            self._tracebacks[name] = seen


def excesses(usage: Mapping[str, Usage]) -> list[str]:
    """Return which programs take more memory or files than they may, in words."""
    return [
        f"{name} takes {each.megabytes:.0f} MB and {each.files} files, "
        f"allowed are {MOST[name].megabytes:.0f} MB and {MOST[name].files} files"
        for name, each in usage.items()
        if each.megabytes > MOST[name].megabytes or each.files > MOST[name].files
    ]
