"""A small disk that can be filled and lose its power: ext4 in a file of memory, mounted by a loop.

Losing power is the shutdown of the file system as the kernel's own tests do it: nothing reaches the
disk any more, what was not synced is gone, and the next mount replays the journal. Where no file
system can be mounted (another user than root) a disk is a plain folder, and neither can be tried.
"""

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SHUTDOWN = 0x8004587D  # FS_IOC_SHUTDOWN
WITHOUT_FLUSH = 2  # not even the journal
BALLOON = "balloon"
BLOCK = 64 * 1024
UNMOUNT_SECONDS = 20.0


@dataclass(frozen=True)
class Disk:
    """A disk and the folder where it is mounted."""

    folder: Path
    image: Path
    is_real: bool

    def fill(self) -> None:
        """Take every free byte."""
        with (self.folder / BALLOON).open("wb", buffering=0) as balloon, _when_full():
            while True:
                left = os.statvfs(self.folder)
                size = left.f_bavail * left.f_bsize
                if size > BLOCK:
                    os.posix_fallocate(balloon.fileno(), balloon.tell(), size // 2)
                    balloon.seek(0, os.SEEK_END)
                else:
                    balloon.write(b"x" * BLOCK)

    def free(self) -> None:
        """Give back what `fill` took."""
        (self.folder / BALLOON).unlink(missing_ok=True)

    def sync(self) -> None:
        """Block until everything is on the disk."""
        _run("sync", "-f", str(self.folder))

    def cut(self) -> None:
        """Lose power at this moment; every access fails until `restore`."""
        opened = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(opened, SHUTDOWN, struct.pack("I", WITHOUT_FLUSH))
        finally:
            os.close(opened)

    def restore(self) -> None:
        """Mount it again after a cut; who used it must have ended."""
        self._unmount()
        _run("mount", "-o", "loop,noatime", str(self.image), str(self.folder))

    def close(self) -> None:
        if self.is_real:
            self._unmount()
            self.image.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _unmount(self) -> None:
        """Unmount, and wait for processes that are about to end."""
        deadline = time.monotonic() + UNMOUNT_SECONDS
        while True:
            try:
                return _run("umount", str(self.folder))
            except subprocess.CalledProcessError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def open_disk(folder: Path, megabytes: int) -> Disk:
    """Make an empty disk and mount it at a folder, which everybody may write."""
    folder.mkdir(parents=True)
    image = folder.with_suffix(".image")
    disk = Disk(folder, image, is_real=_mounted(image, folder, megabytes))
    folder.chmod(0o777)
    return disk


def _mounted(image: Path, folder: Path, megabytes: int) -> bool:
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        return False
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    try:
        # No share is kept for root: a full disk is full for everybody.
        _run("mkfs.ext4", "-q", "-F", "-m", "0", str(image))
        _run("mount", "-o", "loop,noatime", str(image), str(folder))
    except subprocess.CalledProcessError:
        image.unlink()
        return False
    return True


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@contextlib.contextmanager
def _when_full() -> Iterator[None]:
    with contextlib.suppress(OSError):
        yield
