"""Follows the checkouts that the indexer has indexed, one follower each."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import partial
from pathlib import Path

from ctx_core.background import BackgroundTask, Work
from ctx_core.blocking import DISK
from ctx_core.errors import InvalidInput, ModelMismatch
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.source.workspace import resolve_workspace
from ctx_indexer.watch.folder_watches import EventSource, open_events
from ctx_indexer.watch.follower import Follower, Listener
from ctx_indexer.watch.status import WorkspaceStatus

log = logging.getLogger(__name__)

MAX_WORKSPACES = 200  # followed at the same time; others are indexed on request


class Watch:
    """The followers of a server. `follow` begins with a further checkout at any time."""

    def __init__(
        self,
        indexer: Indexer,
        *,
        on_update: Listener | None = None,
        events: Callable[[], EventSource] = open_events,
        shares: bool = False,
    ) -> None:
        """`shares` says that other indexers follow the same branch into the same store."""
        self._indexer = indexer
        self._shares = shares
        self._on_update = on_update
        self._open_events = events
        self._events: EventSource | None = None
        self._group: asyncio.TaskGroup | None = None
        self._followers: dict[tuple[str, Path], Follower] = {}
        self._starts: list[Work] = []
        self._tasks: dict[tuple[str, Path], asyncio.Task[None]] = {}

    async def run(self, *, known: bool = True) -> None:
        """Follow the `known` checkouts, and every one that will be indexed as a whole."""
        self._events = self._open_events()
        self._indexer.on_indexed.append(self._indexed)
        self._indexer.on_dropped.append(self._dropped)
        try:
            async with asyncio.TaskGroup() as self._group:
                for checkout in await self._known() if known else ():
                    self.follow(checkout)
                self._start_waiting(self._group)
                await asyncio.Event().wait()
        finally:
            self._group = None
            self._tasks.clear()
            self._followers.clear()
            self._indexer.on_indexed.remove(self._indexed)
            self._indexer.on_dropped.remove(self._dropped)
            self._events.close()

    def follow(self, checkout: Checkout) -> None:
        """Follow a checkout, unless it is followed already."""
        place = (checkout.key.collection, checkout.root)
        known = self._followers.get(place)
        if known is not None and known.checkout == checkout:
            return
        if known is None and len(self._followers) >= MAX_WORKSPACES:
            log.warning("%s is not followed: %d workspaces are", checkout.root, MAX_WORKSPACES)
            return
        assert self._events is not None, "follow() is for a watch that runs"
        if task := self._tasks.pop(place, None):
            task.cancel()
        follower = Follower(
            self._indexer,
            checkout,
            self._events,
            on_update=self._on_update,
            shares=self._shares,
        )
        self._followers[place] = follower
        self._begin(follower)

    def begin(self, folder: Path, collection: str, repo: str | None = None) -> None:
        """Index a folder now, and follow it from then on."""
        self._starts.append(partial(self._index, folder, collection, repo))
        if self._group is not None:
            self._start_waiting(self._group)

    def _start_waiting(self, group: asyncio.TaskGroup) -> None:
        while self._starts:
            name = "indexing before following"
            work = BackgroundTask(name, self._starts.pop()).run()
            group.create_task(work, name=name, context=Context())

    async def _index(self, folder: Path, collection: str, repo: str | None) -> None:
        """Index a folder; the end of the run begins to follow it. A failure is logged."""
        try:
            root = await DISK.run(resolve_workspace, folder)
            if (collection, root) not in self._followers:
                await self._indexer.index(root, collection=collection, repo=repo)
        except (InvalidInput, ModelMismatch) as error:
            log.warning("%s is not followed: %s", folder, error)

    def statuses(self, collection: str | None = None) -> list[WorkspaceStatus]:
        """Return the status of each followed workspace, of one collection or of all."""
        found = [each.status for each in self._followers.values()]
        return [each for each in found if collection in (None, each.collection)]

    def gauges(self) -> Mapping[str, Callable[[], float]]:
        """Return the metrics: how many workspaces, how far behind, and how many failures."""

        def total(value: Callable[[WorkspaceStatus], float]) -> Callable[[], float]:
            return lambda: float(sum(value(each) for each in self.statuses()))

        return {
            "watch_workspaces": total(lambda _: 1),
            "watch_polled_workspaces": total(lambda each: each.state == "polling"),
            "watch_waiting_workspaces": total(lambda each: each.state in ("waiting", "missing")),
            "watch_folders": total(lambda each: each.watched_folders),
            "watch_pending": total(lambda each: each.pending),
            "watch_updates": total(lambda each: each.updates),
            "watch_failures": total(lambda each: each.failures),
            "watch_lag_seconds": lambda: max(
                (each.lag_seconds for each in self.statuses()), default=0.0
            ),
        }

    def _begin(self, follower: Follower) -> None:
        assert self._group is not None
        checkout = follower.checkout
        name = f"following {checkout.repo}"
        place = (checkout.key.collection, checkout.root)
        # Without the context of the call that indexed it, such as the limits of its token.
        work = self._run(follower, name)
        self._tasks[place] = self._group.create_task(work, name=name, context=Context())

    async def _run(self, follower: Follower, name: str) -> None:
        """Run a follower; one whose checkout is forgotten ends."""
        await BackgroundTask(name, follower.run).run()
        place = (follower.checkout.key.collection, follower.checkout.root)
        if self._followers.get(place) is follower:
            del self._followers[place], self._tasks[place]

    def _indexed(self, checkout: Checkout, is_whole: bool) -> None:
        """Follow the workspace that was just indexed, where that was the whole of it."""
        if is_whole:
            self.follow(checkout)

    def _dropped(self, checkout: Checkout) -> None:
        """Follow a dropped checkout no more: the next change would index a part of it again."""
        place = (checkout.key.collection, checkout.root)
        self._followers.pop(place, None)
        if task := self._tasks.pop(place, None):
            task.cancel()

    async def _known(self) -> list[Checkout]:
        """Return the checkouts that were indexed as a whole into the store that is used now."""
        states = await DISK.run(self._indexer.states.own)
        collections = sorted({state.collection_name for state in states.values() if state.whole})
        return [
            checkout
            for collection in collections
            for checkout in await self._indexer.checkouts.of(collection)
            if (state := states.get(checkout.root)) and state.whole
        ]
