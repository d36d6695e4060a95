"""Checks that the disk has room before the embedded engine writes.

The engine maps sparse files into memory: a write to a full disk is no error that it could return,
it ends the process with SIGBUS.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from ctx_core.errors import StorageFailed

MEGABYTE = 1024**2
# A batch takes a few megabytes at most; the rest is for other writers meanwhile.
MIN_FREE_BYTES = 64 * MEGABYTE
# Opening replays changes that were not flushed. Less than for writing, so that a store that has
# stopped writing can be opened again.
MIN_FREE_SHARE_TO_OPEN = 0.25


@dataclass(frozen=True)
class FreeSpace:
    """The disk of a folder, and how many bytes of it must stay free."""

    folder: Path
    min_bytes: int = MIN_FREE_BYTES

    def require(self) -> None:
        """Raise StorageFailed where there is too little room to write."""
        free = self._free()
        if free < self.min_bytes:
            raise StorageFailed(
                f"the disk of {self.folder} has {free // MEGABYTE} MB free, and vectors are "
                f"written only while {self.min_bytes // MEGABYTE} MB are: make "
                "room, and writing goes on by itself; searches go on meanwhile",
                folder=str(self.folder),
            )

    def require_to_open(self) -> None:
        """Raise StorageFailed where there is too little room to open the collections."""
        free, needed = self._free(), int(self.min_bytes * MIN_FREE_SHARE_TO_OPEN)
        if free < needed:
            raise StorageFailed(
                f"the disk of {self.folder} has {free // MEGABYTE} MB free, and "
                f"{needed // MEGABYTE} MB are needed to open the vectors: make room, or move "
                "CTX_DATA_DIR",
                folder=str(self.folder),
            )

    def _free(self) -> int:
        return shutil.disk_usage(self.folder).free
