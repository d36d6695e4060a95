"""The interface to the system's file events, and the choice of how to get them."""

import platform
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

from ctx_indexer.source.folders import Folders
from ctx_indexer.watch.pending import Pending


class FolderWatches(Protocol):
    """The watched folders of one workspace. Methods block, and are called one at a time."""

    @property
    def watched(self) -> int:
        """How many folders are watched, without the closed ones."""
        ...

    @property
    def problem(self) -> str:
        """Why not every folder can be watched; empty where all are."""
        ...

    def sync(self, folders: Folders) -> None:
        """Watch exactly these folders; of closed ones only the files that may open them."""
        ...

    def add(self, folders: Folders) -> None:
        """Watch these folders too."""
        ...

    def watch_rules(self, places: Mapping[Path, Collection[str]]) -> None:
        """Watch exactly these rule files, which lie elsewhere, by their folders."""
        ...

    def close(self) -> None:
        """Watch nothing any more; a second call does nothing."""
        ...


class EventSource(Protocol):
    """Where the file events of this process come from."""

    def open(self, root: Path, pending: Pending) -> FolderWatches:
        """Return watches of a workspace that note its changes in `pending`."""
        ...

    def close(self) -> None: ...


def open_events() -> EventSource:
    """Return the source of this system: inotify for chosen folders, else watchdog's observer."""
    if platform.system() == "Linux":
        from ctx_indexer.watch.inotify import InotifySource  # noqa: PLC0415 - Linux only

        return InotifySource()
    from ctx_indexer.watch.observed import ObserverSource  # noqa: PLC0415 - elsewhere only

    return ObserverSource()
