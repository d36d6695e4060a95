"""File events of Linux: one inotify instance a process, one watch a folder that is not ignored.

watchdog's own observer watches every folder below a root, `node_modules` and `.git` too; its reader
of inotify events takes single folders.
"""

import errno
import itertools
import logging
import os
import threading
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from ctx_indexer.source.folders import RULE_FILES, Folders
from ctx_indexer.watch.pending import Pending

log = logging.getLogger(__name__)

CHANGES = Mask(
    InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_ATTRIB
    | InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_MOVE
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
    | InotifyConstants.IN_DONT_FOLLOW
    | InotifyConstants.IN_ONLYDIR
    | InotifyConstants.IN_EXCL_UNLINK
)
_SELF = InotifyConstants.IN_DELETE_SELF | InotifyConstants.IN_MOVE_SELF
_GONE = InotifyConstants.IN_DELETE | InotifyConstants.IN_MOVED_FROM
LIMIT = "/proc/sys/fs/inotify/max_user_watches"

_ids = itertools.count(1)


class InotifySource:
    """The inotify instance of this process, opened with the first workspace."""

    def __init__(self) -> None:
        self._reader: InotifyFD | None = None

    def open(self, root: Path, pending: Pending) -> "InotifyWatches":
        return InotifyWatches(self._open_reader(), root, pending)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.stop()
            self._reader.join()
            self._reader = None

    def _open_reader(self) -> InotifyFD | None:
        if self._reader is None:
            try:
                self._reader = InotifyFD()
                self._reader.start()
            except OSError as error:  # too many instances of this user
                log.warning("no file events: %s", error)
        return self._reader


class InotifyWatches:
    """The watched folders of one workspace. Where watches run out, `problem` says so."""

    def __init__(self, reader: InotifyFD | None, root: Path, pending: Pending) -> None:
        self._reader = reader
        self._root = root
        self._pending = pending
        self._lock = threading.Lock()
        self._watches: dict[str, _Watch] = {}
        self._rules: list[_Watch] = []
        self.problem = "" if reader else "no inotify instance is left for this user"

    @property
    def watched(self) -> int:
        return sum(not each.is_closed for each in list(self._watches.values()))

    def sync(self, folders: Folders) -> None:
        with self._lock:
            known = folders.paths | folders.closed
            self._drop([path for path in self._watches if path not in known])
        self.problem = "" if self._reader else self.problem
        self.add(folders)

    def add(self, folders: Folders) -> None:
        for path in sorted(folders.paths | folders.closed):
            with self._lock:
                if self._reader is None:
                    return
                is_closed = path in folders.closed
                if (known := self._watches.get(path)) and known.is_closed == is_closed:
                    continue
                self._drop([path] if known else [])
                watch = _Watch(partial(self._on_event, path, is_closed), self._pending, is_closed)
                if not self._register(watch, self._root / path):
                    return
                self._watches[path] = watch

    def watch_rules(self, places: Mapping[Path, Collection[str]]) -> None:
        with self._lock:
            self._unregister(self._rules)
            self._rules = []
            for place, names in places.items():
                watch = _Watch(partial(self._on_rule_event, names), self._pending)
                if self._reader is not None and self._register(watch, place):
                    self._rules.append(watch)

    def close(self) -> None:
        with self._lock:
            self._drop(list(self._watches))
            self._unregister(self._rules)
            self._rules = []
            self._reader = None

    def _register(self, watch: "_Watch", place: Path) -> bool:
        """Watch a folder; False where no watch is left. One that is gone is passed over."""
        assert self._reader is not None
        try:
            path = os.fsencode(place)
            watch.descriptor = self._reader.add_callback(path, CHANGES, watch, watch.id)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.ENOMEM, errno.EMFILE):
                self.problem = f"the system allows no more watches of folders; raise {LIMIT}"
                return False
        return True

    def _drop(self, paths: Collection[str]) -> None:
        self._unregister([self._watches.pop(path) for path in paths])

    def _unregister(self, watches: Collection["_Watch"]) -> None:
        if self._reader is not None:
            known = [(each.descriptor, each.id) for each in watches if each.descriptor is not None]
            self._reader.remove_callbacks(known)

    def _on_event(self, folder: str, is_closed: bool, event: InotifyEvent) -> None:
        """Note an event of a folder. In the thread that reads events."""
        if not event.name:
            if event.mask & _SELF:
                self._forget(folder)
            return
        name = os.fsdecode(event.name)
        path = f"{folder}/{name}" if folder else name
        if name in RULE_FILES:
            self._pending.add_everything()
        elif is_closed:
            return
        elif event.mask & InotifyConstants.IN_ISDIR:
            if event.mask & _GONE:
                self._forget(path)
            self._pending.add_folder(path)
        else:
            self._pending.add_file(path)

    def _on_rule_event(self, names: Collection[str], event: InotifyEvent) -> None:
        if os.fsdecode(event.name) in names:
            self._pending.add_everything()

    def _forget(self, folder: str) -> None:
        """Drop the watches of a folder that was moved or deleted, and of those inside it."""
        if not folder:
            self._pending.lose()
            return
        with self._lock:
            inside = [path for path in self._watches if f"{path}/".startswith(f"{folder}/")]
            self._drop(inside)


class _Watch:
    """The watch of one folder, as watchdog calls it back."""

    def __init__(
        self, on_event: Callable[[InotifyEvent], None], pending: Pending, is_closed: bool = False
    ) -> None:
        self.id = CallbackId(next(_ids))
        self.is_closed = is_closed
        self.descriptor: WatchDescriptor | None = None
        self._on_event = on_event
        self._pending = pending

    def on_event(self, event: InotifyEvent) -> None:
        self._on_event(event)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        self.descriptor = None

    def on_queue_overflow(self) -> None:
        self._pending.add_everything()
