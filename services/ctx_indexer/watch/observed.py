"""File events of systems that watch a whole tree at once, by watchdog's observer."""

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from ctx_indexer.source.folders import RULE_FILES, Folders
from ctx_indexer.watch.pending import Pending

READING = frozenset(["opened", "closed_no_write"])


class ObserverSource:
    """The observer of this process."""

    def __init__(self) -> None:
        self._observer: BaseObserver = Observer()
        self._observer.start()

    def open(self, root: Path, pending: Pending) -> "ObservedTree":
        return ObservedTree(self._observer, root, pending)

    def close(self) -> None:
        self._observer.stop()
        self._observer.join()


class ObservedTree:
    """The watch of one workspace. Events of folders that are ignored are passed over."""

    def __init__(self, observer: BaseObserver, root: Path, pending: Pending) -> None:
        self._observer = observer
        self._root = root
        self._pending = pending
        self._folders: frozenset[str] = frozenset()
        self._closed: frozenset[str] = frozenset()
        self._watches: list[ObservedWatch] = []
        self._rules: list[ObservedWatch] = []
        self.problem = ""

    @property
    def watched(self) -> int:
        return len(self._folders)

    def sync(self, folders: Folders) -> None:
        self._folders, self._closed = frozenset(folders.paths), frozenset(folders.closed)
        if not self._watches:
            self._watches = self._schedule(self._root, self._on_event, recursive=True)

    def add(self, folders: Folders) -> None:
        self._folders = (self._folders - folders.closed) | folders.paths
        self._closed = (self._closed - folders.paths) | folders.closed

    def watch_rules(self, places: Mapping[Path, Collection[str]]) -> None:
        self._unschedule(self._rules)
        self._rules = [
            watch
            for place, names in places.items()
            for watch in self._schedule(place, partial(self._on_rule_event, names), recursive=False)
        ]

    def close(self) -> None:
        self._unschedule([*self._watches, *self._rules])
        self._watches, self._rules = [], []

    def _schedule(
        self, place: Path, on_event: Callable[[FileSystemEvent], None], *, recursive: bool
    ) -> list[ObservedWatch]:
        try:
            return [self._observer.schedule(_Handler(on_event), place, recursive=recursive)]
        except OSError as error:
            if place == self._root:
                self.problem = f"the system gives no events of this folder: {error}"
            return []

    def _unschedule(self, watches: Collection[ObservedWatch]) -> None:
        for watch in watches:
            self._observer.unschedule(watch)

    def _on_event(self, event: FileSystemEvent) -> None:
        """Note an event. In the observer's thread."""
        if event.event_type in READING:
            return
        for given in _paths(event):
            self._note(given, event.is_directory)

    def _note(self, given: str, is_folder: bool) -> None:
        relative = os.path.relpath(given, self._root).replace(os.sep, "/")
        if relative == ".":
            if not self._root.is_dir():
                self._pending.lose()
            return
        folder, _, name = relative.rpartition("/")
        is_closed = folder in self._closed
        if relative.startswith("../") or not (is_closed or folder in self._folders):
            return
        if name in RULE_FILES:
            if not is_folder or not Path(given).exists():
                self._pending.add_everything()
        elif is_closed:
            return
        elif is_folder:
            # Also a change inside it, which says that nothing of the folder itself changed.
            if relative not in self._folders or not Path(given).is_dir():
                self._pending.add_folder(relative)
        else:
            self._pending.add_file(relative)

    def _on_rule_event(self, names: Collection[str], event: FileSystemEvent) -> None:
        if event.event_type in READING:
            return
        if any(Path(path).name in names for path in _paths(event)):
            self._pending.add_everything()


def _paths(event: FileSystemEvent) -> list[str]:
    """Return the paths of an event: two of a file that was renamed."""
    return [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]


class _Handler(FileSystemEventHandler):
    def __init__(self, on_event: Callable[[FileSystemEvent], None]) -> None:
        self._on_event = on_event

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._on_event(event)
