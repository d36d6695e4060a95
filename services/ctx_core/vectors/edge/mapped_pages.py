"""Lets go of the pages of a collection's files that the embedded engine has mapped.

Pages that were written through a mapping stay resident until the system is short of memory: a run
that writes 100,000 points would hold all of their payloads and vectors besides its own memory.
"""

import ctypes
import mmap
import re
import sys
from pathlib import Path

# A point takes 2 to 9 KB of mapped files: 20 MB at most until pages are let go, which takes 3 ms.
MAX_CHANGES = 2_000
MAPS = Path("/proc/self/maps")
SHARED_FILE = re.compile(
    r"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) [r-][w-][x-]s"
    r" \S+ \S+ \S+ +(?P<path>/.*)"  # offset, device, inode before it
)


class MappedPages:
    """The mapped pages of the files below a folder; let go after MAX_CHANGES changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder.resolve()}/"
        self._changes = 0

    def note(self, changes: int) -> None:
        """Count changes, and let go of the pages after many."""
        self._changes += changes
        if self._changes >= MAX_CHANGES:
            self._changes = 0
            let_go(self._folder)


def let_go(folder: str) -> None:
    """Unmap the pages of shared file mappings below a folder; does nothing but on Linux.

    Call it on the thread of the engine's calls: a range must not be mapped anew meanwhile.
    """
    if sys.platform != "linux":
        return
    # Shared pages stay in the system's cache, also changed ones, and are mapped again by the next
    # access. Private ones would be lost: they are never touched.
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in MAPS.read_text(errors="surrogateescape").splitlines():
        mapping = SHARED_FILE.fullmatch(line)
        if mapping and mapping["path"].startswith(folder):
            start, end = int(mapping["start"], 16), int(mapping["end"], 16)
            madvise(start, end - start, mmap.MADV_DONTNEED)  # refused: they stay
