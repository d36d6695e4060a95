"""A watch that runs over a real store, and what it has brought into the index."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from ctx_indexer.manifest.rows import RepoKey
from ctx_indexer.watch.folder_watches import EventSource
from ctx_indexer.watch.inotify import InotifySource
from ctx_indexer.watch.observed import ObserverSource
from ctx_indexer.watch.status import Update, WorkspaceStatus
from ctx_indexer.watch.watch import Watch
from tests.indexer.conftest import REPO, Bench
from tests.support.repositories import Repository

SECONDS = 20.0  # a loaded machine, not a target


@dataclass
class Watching:
    """A watch over a repository, with its updates so far."""

    bench: Bench
    repository: Repository
    watch: Watch
    updates: list[Update] = field(default_factory=list)

    @property
    def status(self) -> WorkspaceStatus:
        [status] = self.watch.statuses()
        return status

    @property
    def key(self) -> RepoKey:
        return RepoKey("test", self.bench.collection, REPO)

    async def until(self, is_true: Callable[[], Awaitable[bool]], what: str = "") -> None:
        deadline = time.monotonic() + SECONDS
        while not await is_true():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} not within {SECONDS} s: {self.status}")
            await asyncio.sleep(0.02)

    async def until_texts(self, expected: dict[str, str]) -> None:
        """Wait until exactly these files are indexed, each with this word in it."""
        texts: dict[str, str] = {}

        async def is_so() -> bool:
            nonlocal texts
            texts = await self.bench.texts()
            return texts.keys() == expected.keys() and all(
                word in texts[path] for path, word in expected.items()
            )

        try:
            await self.until(is_so)
        except AssertionError as error:
            raise AssertionError(f"{expected} expected, {texts} indexed; {error}") from error

    async def until_state(self, state: str) -> None:
        async def is_so() -> bool:
            statuses = self.watch.statuses()
            return bool(statuses) and statuses[0].state == state

        await self.until(is_so, state)


Start = Callable[[], Awaitable[Watching]]


@pytest.fixture
def source(request: pytest.FixtureRequest) -> Callable[[], EventSource]:
    """Return inotify, or on request watchdog's observer, which other systems use."""
    return ObserverSource if getattr(request, "param", "") == "observer" else InotifySource


@pytest.fixture
async def start(
    bench: Bench, repository: Repository, source: Callable[[], EventSource]
) -> AsyncIterator[Start]:
    """Index the repository, then follow it until the test ends."""
    tasks: list[asyncio.Task[None]] = []

    async def begin() -> Watching:
        updates: list[Update] = []
        watch = Watch(bench.indexer, on_update=updates.append, events=source)
        tasks.append(asyncio.create_task(watch.run()))
        await bench.index(repository.root)
        watching = Watching(bench, repository, watch, updates)
        await watching.until_state("following")
        return watching

    yield begin
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
