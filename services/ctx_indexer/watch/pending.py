"""The changes of a workspace that the index lacks: coalesced, bounded, due after a quiet time."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

# More changed paths than this are one change of everything: finding them by a check takes less than
# asking for each, and a hostile repository cannot fill the memory with names.
MAX_PATHS = 2_000
# Quiet time that is waited for: an editor's save is several events within a few milliseconds.
QUIET_SECONDS = 0.05
QUIET_SECONDS_PER_PATH = 0.002
MOST_QUIET_SECONDS = 1.0
# Changes that never pause, as of a file that is written all the time, are applied after so many
# quiet times.
LONGEST_WAIT = 8.0
# Rest after an update, as a multiple of its duration: nothing that happens in a workspace takes
# more than a share of a core. One that found nothing to do is worth less.
REST_AFTER_UPDATE = 1.0
REST_AFTER_NOTHING = 9.0
MOST_REST_SECONDS = 10.0


@dataclass(frozen=True)
class Changes:
    """Changed files, folders that came or went, and whether anything else may have changed.

    `seen_at` is when the first of them was noticed, by the monotonic clock.
    """

    paths: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    everything: bool = False
    seen_at: float = field(default_factory=time.monotonic)


class Pending:
    """Collects changes until they are taken; wakes the event loop that it was made in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._folders: set[str] = set()
        self._everything = self._is_lost = False
        self._first = self._last = 0.0
        # Paths that were looked at and are ignored: a log file may be written all the time.
        self.ignored: frozenset[str] = frozenset()

    def __len__(self) -> int:
        """How many changes wait; where they were too many, those since then."""
        return len(self._paths) + len(self._folders) + self._everything

    @property
    def first(self) -> float:
        """When the first change that waits was noticed; 0 where none waits."""
        return self._first

    @property
    def last(self) -> float:
        """When the last change was noticed."""
        return self._last

    @property
    def is_lost(self) -> bool:
        """Whether the folder of the workspace itself went away."""
        return self._is_lost

    def add_file(self, path: str) -> None:
        """Note that a file appeared, changed or went. Any thread."""
        if self._may_matter(path):
            self._note(lambda: self._paths.add(path))

    def add_folder(self, path: str) -> None:
        """Note that a folder appeared or went, with all that lies in it. Any thread."""
        if self._may_matter(path):
            self._note(lambda: self._folders.add(path))

    def add_everything(self) -> None:
        """Note that anything may have changed: events were lost, or rules changed. Any thread."""
        self._note(lambda: None, everything=True)

    def lose(self) -> None:
        """Note that the folder of the workspace is gone. Any thread."""
        self._is_lost = True
        self.add_everything()

    def restore(self, changes: Changes) -> None:
        """Put back changes that could not be applied."""
        with self._lock:
            self._paths |= changes.paths
            self._folders |= changes.folders
            self._everything |= changes.everything
            self._first = min(self._first or changes.seen_at, changes.seen_at)

    def take(self) -> Changes:
        """Return the changes and forget them."""
        with self._lock:
            taken = Changes(
                frozenset(self._paths), frozenset(self._folders), self._everything, self._first
            )
            self._paths.clear()
            self._folders.clear()
            self._everything = False
            self._first = 0.0
            self._changed.clear()
        return taken

    async def wait(self, seconds: float) -> bool:
        """Wait for a change, at most so long; tell whether there is one."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        return self._first > 0

    def _may_matter(self, path: str) -> bool:
        """Whether a path may be indexed: it is not known as ignored, and its name is UTF-8."""
        try:
            path.encode()
        except UnicodeEncodeError:
            return False
        return path not in self.ignored

    def _note(self, change: Callable[[], None], *, everything: bool = False) -> None:
        with self._lock:
            self._everything |= everything
            change()
            if len(self._paths) + len(self._folders) > MAX_PATHS:
                self._everything = True
                self._paths.clear()
                self._folders.clear()
            is_first = not self._first
            self._last = time.monotonic()
            self._first = self._first or self._last
        if is_first:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._changed.set)


def due_at(first: float, last: float, paths: int) -> float:
    """Return when changes are applied, by when the first and the last of them were noticed."""
    quiet = min(MOST_QUIET_SECONDS, QUIET_SECONDS + QUIET_SECONDS_PER_PATH * paths)
    return min(last + quiet, first + quiet * LONGEST_WAIT)


def rest_seconds(duration: float, *, changed: bool) -> float:
    """Return how long to rest after an update that took so long."""
    factor = REST_AFTER_UPDATE if changed else REST_AFTER_NOTHING
    return min(MOST_REST_SECONDS, duration * factor)
